echo "$@" >> "$RUNS"
