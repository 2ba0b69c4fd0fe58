"""Ways to see and answer. Each stands alone, renders from the feed and acts through the desk."""
