// Package kubeconfig reads and writes the configuration of a client.
package kubeconfig

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

const name = "crdserver"

// Write makes path a kubeconfig with one context for server, readable by its
// owner only. A reader sees the old file or the whole new one.
func Write(path, server string, ca []byte, token string) error {
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos[name] = &api.AuthInfo{Token: token}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	body, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encoding a kubeconfig: %w", err)
	}
	draft, err := os.CreateTemp(filepath.Dir(path), ".kubeconfig-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	if _, err := draft.Write(body); err != nil {
		draft.Close()
		return err
	}
	if err := draft.Close(); err != nil {
		return err
	}
	return os.Rename(draft.Name(), path)
}

// Load gives the client configuration of a kubeconfig's current context or, if
// server is set, of that server without credentials. Nothing limits its rate.
func Load(path, server string) (*rest.Config, error) {
	config, err := load(path, server)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

func load(path, server string) (*rest.Config, error) {
	switch {
	case path != "" && server != "":
		return nil, fmt.Errorf("expected one of -kubeconfig and -server, found both")
	case server != "":
		return &rest.Config{Host: server}, nil
	case path != "":
		return clientcmd.BuildConfigFromFlags("", path)
	default:
		return nil, fmt.Errorf("expected -kubeconfig FILE or -server URL, found neither")
	}
}
