// Command informerbench measures one informer of client-go: what a first sync
// costs, then what each MODIFIED event costs, as one JSON line.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"kcpctl.dev/foreign/internal/bench"
	"kcpctl.dev/foreign/internal/kubeconfig"
)

type arguments struct {
	kubeconfig string
	server     string
	kind       string
	list       string
	start      string
	objects    int
	indexes    int
	events     int
	collect    bool
	timeout    time.Duration
}

func main() {
	var args arguments
	flag.StringVar(&args.kubeconfig, "kubeconfig", "", "kubeconfig of the server to read")
	flag.StringVar(&args.server, "server", "", "URL of a server that wants no credentials")
	flag.StringVar(&args.kind, "kind", "dynamic", "dynamic or typed objects")
	flag.StringVar(&args.list, "list", "list", "list (LIST, then WATCH) or watchlist (one stream)")
	flag.StringVar(&args.start, "start", "", "URL to POST to when the events shall come; empty waits for them")
	flag.IntVar(&args.objects, "objects", 20_000, "objects to expect")
	flag.IntVar(&args.indexes, "indexes", 3, "2 leaves out the one that reads a field of the spec")
	flag.IntVar(&args.events, "events", 100_000, "MODIFIED events to take after the sync; 0 for none")
	flag.BoolVar(&args.collect, "collect", false, "collect garbage before reading what stays resident; else as a user sees it")
	flag.DurationVar(&args.timeout, "timeout", 5*time.Minute, "give up after this long")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, args.timeout)
	err := run(ctx, args)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "informerbench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args arguments) error {
	if err := bench.ChooseList(args.list); err != nil {
		return err
	}
	config, err := kubeconfig.Load(args.kubeconfig, args.server)
	if err != nil {
		return err
	}
	informer, err := bench.NewInformer(args.kind, config, args.indexes)
	if err != nil {
		return err
	}
	plan := bench.Run{
		Informer: informer,
		Objects:  args.objects,
		Events:   args.events,
		StartURL: args.start,
		Collect:  args.collect,
	}
	figures, err := plan.Measure(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(figures)
}
