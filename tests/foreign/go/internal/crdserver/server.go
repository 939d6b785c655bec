// Package crdserver is a real API server for custom resources, and nothing
// else: upstream's apiextensions server without a core cluster around it.
package crdserver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
)

const readyTimeout = time.Minute

// Server is configured, but serves only while Run does.
type Server struct {
	URL string
	CA  []byte // PEM: what a client must trust

	generic *genericapiserver.GenericAPIServer
	admin   *rest.Config
}

// New configures a server that listens on listener.
func New(settings Settings, listener net.Listener) (*Server, error) {
	config, err := configure(settings, listener)
	if err != nil {
		return nil, err
	}
	extensions, err := config.Complete().New(genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, fmt.Errorf("making the API server: %w", err)
	}
	generic := extensions.GenericAPIServer
	generic.ShutdownTimeout = stopGrace
	serveGroups(generic)
	chain, _ := config.GenericConfig.SecureServing.Cert.CurrentCertKeyContent()
	return &Server{
		URL:     "https://" + listener.Addr().String(),
		CA:      chain,
		generic: generic,
		admin:   generic.LoopbackClientConfig,
	}, nil
}

// serveGroups answers GET /apis, which the library leaves to an aggregator.
func serveGroups(generic *genericapiserver.GenericAPIServer) {
	manager := generic.AggregatedDiscoveryGroupManager
	handler := aggregated.WrapAggregatedDiscoveryToHandler(generic.DiscoveryGroupManager, manager, nil)
	generic.Handler.GoRestfulContainer.Add(handler.GenerateWebService("/apis", metav1.APIGroupList{}))
}

// Run serves until ctx ends, and calls ready once /readyz says so.
func (s *Server) Run(ctx context.Context, ready func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.generic.PrepareRun().RunWithContext(ctx) }()

	err := s.waitReady(ctx)
	if err == nil {
		err = ready()
	}
	if err != nil {
		cancel()
		<-ended
		return err
	}
	return <-ended
}

func (s *Server) waitReady(ctx context.Context) error {
	client, err := rest.HTTPClientFor(s.admin)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		last := askReady(ctx, client, s.admin.Host)
		if last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the API server is not ready (%w), last answer: %v", ctx.Err(), last)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func askReady(ctx context.Context, client *http.Client, host string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, host+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz says %s", response.Status)
	}
	return nil
}
