"""Past one machine: models that learned apart become one."""
