/** The texts about notifications, loaded with the pages that show them. */
import notifications from "../../../../src/handraise/texts/en/notifications.json";
import { addTexts } from "../../texts";

addTexts("notifications", notifications);
