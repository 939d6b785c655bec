"""Brings the fixtures that test_team.py uses: apiserver, client and manager."""

pytest_plugins = ["kcpctl.testing"]
