/** The texts of the dialog that starts a session, loaded with it. */
import start from "../../../src/handraise/texts/en/start.json";
import { addTexts } from "../texts";

addTexts("start", start);
