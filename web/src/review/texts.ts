/** The texts of the review, loaded with it. */
import review from "../../../src/handraise/texts/en/review.json";
import { addTexts } from "../texts";

addTexts("review", review);
