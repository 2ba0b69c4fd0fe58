"""Files of a project by which a Claude that is run by hand knows us: merged into what is there, and taken out again."""
