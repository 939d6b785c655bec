// Command crdserver serves custom resources as a real API server does, over an
// etcd of its own or one that is given.
//
// State, certificates and token live in the data directory: a second start over
// it with the same port serves the same objects to the same kubeconfig.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kcpctl.dev/foreign/internal/crdserver"
	"kcpctl.dev/foreign/internal/embedetcd"
	"kcpctl.dev/foreign/internal/kubeconfig"
)

type arguments struct {
	port       int
	dataDir    string
	etcdURL    string
	compact    time.Duration
	watchCache bool
	kubeconfig string
}

func main() {
	var args arguments
	flag.IntVar(&args.port, "port", 0, "port on 127.0.0.1; 0 picks a free one")
	flag.StringVar(&args.dataDir, "data-dir", "", "directory for state, certificates and token; empty uses one that is removed at the end")
	flag.StringVar(&args.etcdURL, "etcd-url", "", "etcd to use instead of an embedded one")
	flag.DurationVar(&args.compact, "compact", 5*time.Minute, "interval of compactions: history older than one to two of them is gone; 0 keeps all")
	flag.BoolVar(&args.watchCache, "watch-cache", true, "serve lists and watches from memory; false reads etcd each time")
	flag.StringVar(&args.kubeconfig, "kubeconfig-out", "", "file to write a kubeconfig to, mode 0600")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, args)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "crdserver:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args arguments) error {
	if args.dataDir == "" {
		dir, err := os.MkdirTemp("", "crdserver-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		args.dataDir = dir
	}
	if err := os.MkdirAll(args.dataDir, 0o700); err != nil {
		return err
	}
	if args.etcdURL != "" {
		return serve(ctx, args)
	}
	member, endpoint, err := embedetcd.Start(filepath.Join(args.dataDir, "etcd"))
	if err != nil {
		return err
	}
	defer member.Close()
	args.etcdURL = endpoint
	return whileAlive(ctx, member.Err(), func(ctx context.Context) error { return serve(ctx, args) })
}

// whileAlive ends work, and gives the failure, as soon as one arrives.
func whileAlive(ctx context.Context, failures <-chan error, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-failures:
			cancel(fmt.Errorf("etcd stopped: %w", err))
		case <-ctx.Done():
		}
	}()
	err := work(ctx)
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

func serve(ctx context.Context, args arguments) error {
	token, err := keepToken(filepath.Join(args.dataDir, "token"))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(args.port)))
	if err != nil {
		return fmt.Errorf("%w; choose another -port, or 0", err)
	}
	defer listener.Close()
	server, err := crdserver.New(crdserver.Settings{
		EtcdURL:    args.etcdURL,
		CertDir:    filepath.Join(args.dataDir, "certificates"),
		Token:      token,
		Compaction: args.compact,
		WatchCache: args.watchCache,
	}, listener)
	if err != nil {
		return err
	}
	return server.Run(ctx, func() error { return announce(server, args, token) })
}

// announce writes the kubeconfig, then one JSON line: who reads the line may
// use the file.
func announce(server *crdserver.Server, args arguments, token string) error {
	if args.kubeconfig != "" {
		if err := kubeconfig.Write(args.kubeconfig, server.URL, server.CA, token); err != nil {
			return fmt.Errorf("writing %s: %w", args.kubeconfig, err)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"ready": true, "url": server.URL})
}

// keepToken reads the bearer token from path, or makes one there.
func keepToken(path string) (string, error) {
	body, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(body)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	token := rand.Text()
	return token, os.WriteFile(path, []byte(token+"\n"), 0o600)
}
