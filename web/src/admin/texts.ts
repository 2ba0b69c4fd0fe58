/** The texts of the administration pages and of the rule dialog, loaded with them. */
import admin from "../../../src/handraise/texts/en/admin.json";
import { addTexts } from "../texts";

addTexts("admin", admin);
