// Package bench measures informers of client-go: the same store, indexes,
// filter and queue for untyped and for typed objects.
package bench

import (
	"fmt"
	"os"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const (
	labelIndex     = "label"
	partitionIndex = "partition"
)

// Kinds are the values that NewInformer takes.
var Kinds = []string{"dynamic", "typed"}

// ChooseList makes the informers of this process use "list" or "watchlist". It
// comes before anything else: client-go reads its features once.
func ChooseList(list string) error {
	if list != "list" && list != "watchlist" {
		return fmt.Errorf("expected a -list of list or watchlist, found %q", list)
	}
	return os.Setenv("KUBE_FEATURE_WatchListClient", strconv.FormatBool(list == "watchlist"))
}

// NewInformer makes an informer of the given kind over all namespaces, indexed
// by namespace, by the label app and, with three indexes, by spec.partition.
func NewInformer(kind string, config *rest.Config, indexes int) (cache.SharedIndexInformer, error) {
	if indexes != 2 && indexes != 3 {
		return nil, fmt.Errorf("expected 2 or 3 -indexes, found %d", indexes)
	}
	switch kind {
	case "dynamic":
		return newDynamic(config, indexes)
	case "typed":
		return newTyped(config, indexes)
	default:
		return nil, fmt.Errorf("expected a kind of %q, found %q", Kinds, kind)
	}
}

func newDynamic(config *rest.Config, indexes int) (cache.SharedIndexInformer, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(
		client, Resource, metav1.NamespaceAll, 0, indexers(untypedPartition, indexes), nil)
	return informer.Informer(), nil
}

func newTyped(config *rest.Config, indexes int) (cache.SharedIndexInformer, error) {
	version := Resource.GroupVersion()
	config = rest.CopyConfig(config)
	config.GroupVersion = &version
	config.APIPath = "/apis"
	config.NegotiatedSerializer = codecs().WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	source := cache.NewListWatchFromClient(client, Resource.Resource, metav1.NamespaceAll, fields.Everything())
	return cache.NewSharedIndexInformer(source, &Slice{}, 0, indexers(typedPartition, indexes)), nil
}

func indexers(partition cache.IndexFunc, indexes int) cache.Indexers {
	found := cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		labelIndex:           appLabel,
	}
	if indexes > 2 {
		found[partitionIndex] = partition
	}
	return found
}

func appLabel(obj any) ([]string, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	return []string{accessor.GetLabels()["app"]}, nil
}

func untypedPartition(obj any) ([]string, error) {
	value, _, err := unstructured.NestedString(obj.(*unstructured.Unstructured).Object, "spec", "partition")
	return []string{value}, err
}

func typedPartition(obj any) ([]string, error) {
	return []string{obj.(*Slice).Spec.Partition}, nil
}
