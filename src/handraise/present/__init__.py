"""The presentation: what people read about an ask, its settlement, an action or a session. Pure; lays nothing out."""
