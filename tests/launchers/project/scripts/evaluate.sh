timeout 1h bash -c 'python3 evaluate.py --step "$1"' evaluate "$1"
