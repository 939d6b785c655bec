// Package usage reads what this process has used, as its user would see it.
package usage

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// CPU gives the user and system time of all threads since the process began.
func CPU() (time.Duration, error) {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return 0, fmt.Errorf("getrusage: %w", err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), nil
}

// RSS gives the resident bytes of the process now.
func RSS() (int64, error) {
	body, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(body), &size, &resident); err != nil {
		return 0, fmt.Errorf("expected two page counts in /proc/self/statm, found %q: %w", body, err)
	}
	return resident * int64(os.Getpagesize()), nil
}

// ForgetPeak makes PeakRSS start again from the resident bytes of now.
func ForgetPeak() error {
	return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// PeakRSS gives the most bytes that were resident since ForgetPeak.
func PeakRSS() (int64, error) {
	body, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(body) {
		fields := bytes.Fields(line)
		if len(fields) >= 2 && string(fields[0]) == "VmHWM:" {
			kib, err := strconv.ParseInt(string(fields[1]), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("expected a VmHWM line in /proc/self/status, found none")
}

// Mark is what the process had used at one moment.
type Mark struct {
	Wall time.Time
	CPU  time.Duration
	RSS  int64
}

// Now marks this moment.
func Now() (Mark, error) {
	cpu, err := CPU()
	if err != nil {
		return Mark{}, err
	}
	rss, err := RSS()
	return Mark{Wall: time.Now(), CPU: cpu, RSS: rss}, err
}

// Microseconds gives the CPU time from m to later, divided among count things.
func (m Mark) Microseconds(later Mark, count int) float64 {
	return float64((later.CPU - m.CPU).Nanoseconds()) / 1e3 / float64(count)
}

// Seconds gives the wall time from m to later.
func (m Mark) Seconds(later Mark) float64 {
	return later.Wall.Sub(m.Wall).Seconds()
}
