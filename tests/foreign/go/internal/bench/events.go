package bench

import (
	"context"
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Events takes MODIFIED events from a handler through a filter and a queue to
// one worker, and counts them.
type Events struct {
	queue   workqueue.TypedRateLimitingInterface[cache.ObjectName]
	seen    atomic.Int64
	taken   atomic.Int64
	wanted  int64
	reached chan struct{}
	drained chan struct{}
}

// NewEvents waits for the given number of events.
func NewEvents(wanted int) *Events {
	limiter := workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()
	return &Events{
		queue:   workqueue.NewTypedRateLimitingQueue(limiter),
		wanted:  int64(wanted),
		reached: make(chan struct{}),
		drained: make(chan struct{}),
	}
}

// OnUpdate keeps what changed a generation, and queues its key.
func (e *Events) OnUpdate(old, new any) {
	before, after := accessor(old), accessor(new)
	if before.GetGeneration() != after.GetGeneration() {
		e.queue.Add(cache.ObjectName{Namespace: after.GetNamespace(), Name: after.GetName()})
	}
	if e.seen.Add(1) == e.wanted {
		close(e.reached)
	}
}

// Work takes keys until the queue is shut down and empty.
func (e *Events) Work() {
	defer close(e.drained)
	for {
		key, shutdown := e.queue.Get()
		if shutdown {
			return
		}
		e.taken.Add(1)
		e.queue.Forget(key)
		e.queue.Done(key)
	}
}

// Wait returns the visits made once all events have come and the queue is empty.
func (e *Events) Wait(ctx context.Context) (visits int64, err error) {
	select {
	case <-e.reached:
	case <-ctx.Done():
		return 0, fmt.Errorf("expected %d events, found %d: %w", e.wanted, e.seen.Load(), ctx.Err())
	}
	e.queue.ShutDownWithDrain()
	<-e.drained
	return e.taken.Load(), nil
}

func accessor(obj any) metav1.Object {
	found, err := meta.Accessor(obj)
	if err != nil {
		panic(err) // the informer only holds objects with metadata
	}
	return found
}
