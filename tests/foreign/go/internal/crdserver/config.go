package crdserver

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	nooptrace "go.opentelemetry.io/otel/trace/noop"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	generatedopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/kubernetes/scheme"
)

// stopGrace is how long open watches may hold a stop; by default they hold it
// for a minute.
const stopGrace = 200 * time.Millisecond

// Settings is what a user of the server decides.
type Settings struct {
	EtcdURL    string
	CertDir    string        // made when missing; the same files serve again later
	Token      string        // of the one user, who may do everything
	Compaction time.Duration // history older than one to two of these is gone; 0 keeps all
	WatchCache bool          // off: every list and watch reads etcd
}

// configure fills the library's configuration by hand: its own way insists on
// a core cluster that authenticates, authorizes and resolves services for it.
func configure(settings Settings, listener net.Listener) (*apiserver.Config, error) {
	opts := options.NewCustomResourceDefinitionsServerOptions(nil, nil)
	storage := opts.RecommendedOptions.Etcd
	storage.StorageConfig.Transport.ServerList = []string{settings.EtcdURL}
	storage.StorageConfig.CompactionInterval = settings.Compaction
	storage.EnableWatchCache = settings.WatchCache

	serving := opts.RecommendedOptions.SecureServing
	serving.Listener = listener
	serving.ServerCert.CertDirectory = settings.CertDir
	loopback := net.IPv4(127, 0, 0, 1)
	if err := serving.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{loopback}); err != nil {
		return nil, fmt.Errorf("making certificates in %s: %w", settings.CertDir, err)
	}

	generic := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	if err := opts.Complete(); err != nil {
		return nil, err
	}
	opts.ServerRunOptions.ShutdownWatchTerminationGracePeriod = stopGrace
	if err := opts.ServerRunOptions.ApplyTo(&generic.Config); err != nil {
		return nil, err
	}
	if err := storage.ApplyTo(&generic.Config); err != nil {
		return nil, err
	}
	if err := serving.ApplyToConfig(&generic.Config); err != nil {
		return nil, err
	}
	if err := opts.APIEnablement.ApplyTo(&generic.Config, apiserver.DefaultAPIResourceConfigSource(), apiserver.Scheme); err != nil {
		return nil, err
	}
	generic.ExternalAddress = listener.Addr().String()
	generic.Authentication.Authenticator = union.New(
		bearertoken.New(authenticator.TokenFunc(onlyToken(settings.Token))),
		anonymous.NewAuthenticator(nil),
	)
	generic.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	describe(generic)

	getter := options.NewCRDRESTOptionsGetter(*storage, generic.ResourceTransformers, generic.StorageObjectCountTracker)
	return &apiserver.Config{
		GenericConfig: generic,
		ExtraConfig: apiserver.ExtraConfig{
			CRDRESTOptionsGetter: getter,
			ServiceResolver:      noServices{},
			AuthResolverWrapper: webhook.NewDefaultAuthenticationInfoResolverWrapper(
				nil, nil, generic.LoopbackClientConfig, nooptrace.NewTracerProvider()),
		},
	}, nil
}

// describe turns both OpenAPI documents on.
func describe(generic *genericapiserver.RecommendedConfig) {
	definitions := openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(generatedopenapi.GetOpenAPIDefinitions)
	namer := openapinamer.NewDefinitionNamer(apiserver.Scheme, scheme.Scheme)
	generic.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	generic.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
}

func onlyToken(expected string) func(context.Context, string) (*authenticator.Response, bool, error) {
	admin := &authenticator.Response{User: &user.DefaultInfo{Name: "admin", Groups: []string{user.SystemPrivilegedGroup}}}
	return func(_ context.Context, token string) (*authenticator.Response, bool, error) {
		if token != expected {
			return nil, false, nil
		}
		return admin, true, nil
	}
}

// noServices refuses conversion webhooks that name a Service: there are none
// here. Those with a URL work.
type noServices struct{}

func (noServices) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	return nil, fmt.Errorf("this server has no Services, found a webhook that names %s/%s:%d; give it a url", namespace, name, port)
}
