package bench

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"k8s.io/client-go/tools/cache"

	"kcpctl.dev/foreign/internal/usage"
)

const settle = time.Second // from the sync to reading what stays resident

// Figures is what one run found. Sizes are bytes an object above what was
// resident before the sync.
type Figures struct {
	Objects        int     `json:"objects"`
	SyncSeconds    float64 `json:"sync_s"`
	SyncCPU        float64 `json:"sync_cpu_us_per_object"`
	RSS            float64 `json:"sync_rss_bytes_per_object"`
	Peak           float64 `json:"sync_peak_bytes_per_object"`
	Events         int     `json:"events"`
	Visits         int64   `json:"visits,omitempty"`
	EventsPerS     float64 `json:"events_per_s,omitempty"`
	EventCPU       float64 `json:"event_cpu_us,omitempty"`
	RSSAfterEvents float64 `json:"after_events_rss_bytes_per_object,omitempty"`
}

// Run is one informer in a fresh process, and what it shall meet.
type Run struct {
	Informer cache.SharedIndexInformer
	Objects  int
	Events   int
	StartURL string // asked, by POST, for the events; empty waits for them
	Collect  bool   // give back all that can be before reading what stays resident
}

// Measure syncs the informer, then takes the events.
func (r Run) Measure(ctx context.Context) (*Figures, error) {
	events := NewEvents(r.Events)
	handler := cache.ResourceEventHandlerFuncs{UpdateFunc: events.OnUpdate}
	registration, err := r.Informer.AddEventHandler(handler)
	if err != nil {
		return nil, err
	}
	go events.Work()
	figures := &Figures{Objects: r.Objects, Events: r.Events}
	resident, err := r.sync(ctx, registration, figures)
	if err != nil || r.Events == 0 {
		return figures, err
	}
	return figures, r.consume(ctx, events, resident, figures)
}

// sync gives the bytes that were resident before it.
func (r Run) sync(ctx context.Context, handler cache.ResourceEventHandlerRegistration, figures *Figures) (int64, error) {
	if err := usage.ForgetPeak(); err != nil {
		return 0, err
	}
	before, err := usage.Now()
	if err != nil {
		return 0, err
	}
	go r.Informer.RunWithContext(ctx)
	if !cache.WaitFor(ctx, "the first sync", handler.HasSyncedChecker()) {
		return 0, fmt.Errorf("no sync: %w", context.Cause(ctx))
	}
	synced, err := usage.Now()
	if err != nil {
		return 0, err
	}
	if found := len(r.Informer.GetStore().ListKeys()); found != r.Objects {
		return 0, fmt.Errorf("expected %d objects, found %d", r.Objects, found)
	}
	time.Sleep(settle)
	if r.Collect {
		debug.FreeOSMemory() // collects first
	}
	peak, err := usage.PeakRSS()
	if err != nil {
		return 0, err
	}
	resident, err := usage.RSS()
	figures.SyncSeconds = before.Seconds(synced)
	figures.SyncCPU = before.Microseconds(synced, r.Objects)
	figures.RSS = float64(resident-before.RSS) / float64(r.Objects)
	figures.Peak = float64(peak-before.RSS) / float64(r.Objects)
	return before.RSS, err
}

func (r Run) consume(ctx context.Context, events *Events, resident int64, figures *Figures) error {
	before, err := usage.Now()
	if err != nil {
		return err
	}
	if err := post(ctx, r.StartURL); err != nil {
		return err
	}
	if figures.Visits, err = events.Wait(ctx); err != nil {
		return err
	}
	after, err := usage.Now()
	figures.EventsPerS = float64(r.Events) / before.Seconds(after)
	figures.EventCPU = before.Microseconds(after, r.Events)
	figures.RSSAfterEvents = float64(after.RSS-resident) / float64(r.Objects)
	return err
}

func post(ctx context.Context, url string) error {
	if url == "" {
		return nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("POST %s: expected 2xx, found %s", url, response.Status)
	}
	return nil
}
