"""The rules, one folder a link and one file a rule. The folder is the registry; nothing is listed by hand."""
