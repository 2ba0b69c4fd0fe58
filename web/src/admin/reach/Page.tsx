/** Notifications: what would happen now, where people are reached, when not, in which steps, and what was sent. */
import { t } from "../../texts";
import { Channels } from "./Channels";
import { Escalation } from "./Escalation";
import { Log } from "./Log";
import { Mutes } from "./Mutes";
import { Picture } from "./Picture";
import { QuietHours } from "./QuietHours";
import { useReach } from "./reading";
import "./texts";
import "../../styles/reach.css";

export function NotificationsPage() {
  const reach = useReach();
  return (
    <>
      <p class="lead">{t("notifications.lead")}</p>
      <Picture reach={reach} />
      <Channels reach={reach} />
      <QuietHours reach={reach} />
      <Escalation reach={reach} />
      <Mutes reach={reach} />
      <Log reach={reach} />
    </>
  );
}
