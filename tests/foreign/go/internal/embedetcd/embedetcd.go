// Package embedetcd runs an etcd member inside this process.
package embedetcd

import (
	"fmt"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

const startTimeout = 30 * time.Second

// Start runs a single etcd member over dir and waits until it serves. The
// caller closes it. The endpoint's port is picked anew at every start.
func Start(dir string) (member *embed.Etcd, endpoint string, err error) {
	anyPort := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config := embed.NewConfig()
	config.Dir = dir
	config.LogLevel = "panic" // lower ones report an orderly stop as four errors; real ones come from Err
	config.ListenPeerUrls = []url.URL{anyPort}
	config.ListenClientUrls = []url.URL{anyPort}
	config.AdvertisePeerUrls = []url.URL{anyPort}
	config.AdvertiseClientUrls = []url.URL{anyPort}
	config.InitialCluster = config.InitialClusterFromName(config.Name)

	member, err = embed.StartEtcd(config)
	if err != nil {
		return nil, "", fmt.Errorf("starting etcd over %s: %w", dir, err)
	}
	select {
	case <-member.Server.ReadyNotify():
		return member, "http://" + member.Clients[0].Addr().String(), nil
	case err := <-member.Err():
		member.Close()
		return nil, "", fmt.Errorf("etcd over %s stopped while starting: %w", dir, err)
	case <-time.After(startTimeout):
		member.Close()
		return nil, "", fmt.Errorf("etcd over %s not ready after %s", dir, startTimeout)
	}
}
