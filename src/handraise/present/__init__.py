"""What people read about an ask, its settlement, an action or a session. Pure; decides no layout."""
