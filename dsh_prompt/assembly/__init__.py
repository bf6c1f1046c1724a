"""From layers to a finished assembly: the plan, the pipeline, the waterfall, the guard."""
