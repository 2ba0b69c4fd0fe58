"""Calls as rules see them."""

from handraise.policy.calls import Call


def test_a_tool_name_tells_every_server_it_could_mean() -> None:
    assert Call("mcp__a__b", {}, "/p").servers == ("a",)
    assert Call("mcp__a__b__c", {}, "/p").servers == ("a", "a__b")
    assert Call("mcp__a__b__c", {}, "/p", server="a").servers == ("a",)
    assert Call("Bash", {}, "/p").servers == ()
    assert Call("mcp__", {}, "/p").servers == ()


def test_a_command_with_something_unknown_beside_it_is_not_just_a_command() -> None:
    assert Call("Bash", {"command": "ls", "timeout": 5, "description": "x"}, "/p").command == "ls"
    assert Call("Bash", {"command": "ls", "dangerouslyDisableSandbox": False}, "/p").command == "ls"
    assert Call("Bash", {"command": "ls", "dangerouslyDisableSandbox": True}, "/p").command is None
    assert Call("Bash", {"command": ["ls"]}, "/p").command is None
    assert Call("Bash", {}, "/p").command is None
