TRACE = "trace.jsonl"
