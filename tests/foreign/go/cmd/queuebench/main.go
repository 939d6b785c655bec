// Command queuebench measures how many keys a second pass through the queues
// that Go controllers use, as one JSON line.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"kcpctl.dev/foreign/internal/bench"
)

func main() {
	keys := flag.Int("keys", 200_000, "keys to pass through each queue")
	flag.Parse()

	found, err := bench.MeasureQueues(*keys)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(found)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "queuebench:", err)
		os.Exit(1)
	}
}
