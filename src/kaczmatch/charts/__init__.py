"""Altair charts of what the learners know (extra ``charts``)."""
