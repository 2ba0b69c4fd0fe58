/** The administration pages by their names. */
import type { FunctionComponent } from "preact";
import { AuditPage } from "./Audit";
import { MachinesPage } from "./Machines";
import { ProjectsPage } from "./Projects";
import { RulesPage } from "./Rules";
import { NotificationsPage } from "./reach/Page";
import { SettingsPage } from "./Settings";
import { StatisticsPage } from "./Statistics";
import { TokensPage } from "./Tokens";
import { WebhooksPage } from "./Webhooks";

export const PAGES: Record<string, FunctionComponent> = {
  projects: ProjectsPage,
  rules: RulesPage,
  tokens: TokensPage,
  webhooks: WebhooksPage,
  machines: MachinesPage,
  audit: AuditPage,
  statistics: StatisticsPage,
  notifications: NotificationsPage,
  settings: SettingsPage,
};
