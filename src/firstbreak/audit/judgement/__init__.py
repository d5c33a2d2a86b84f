"""What the checks of samples share: contrasts within prompts, what is paid, agreement with people, suspicion."""
