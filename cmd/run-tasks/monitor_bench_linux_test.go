package main_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// openMonitor starts `run-tasks monitor` in a folder and returns its process, a browser that has
// logged in, and the address of its pages.
func openMonitor(b *testing.B, dir string, args ...string) (pid int, browser *http.Client,
	at string) {
	b.Helper()
	cmd := exec.Command(program, append(args, "monitor", "--no-open")...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	var link []string
	for lines := bufio.NewReader(out); link == nil; {
		line, err := lines.ReadString('\n')
		if err != nil {
			b.Fatal("the monitor prints no link:", err)
		}
		link = loginLink.FindStringSubmatch(line)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	browser = &http.Client{Jar: jar}
	r, err := http.NewRequest(http.MethodPost, link[1]+"/login",
		strings.NewReader(url.Values{"code": {link[2]}}.Encode()))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", link[1])
	answer, err := browser.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	_ = answer.Body.Close()
	return cmd.Process.Pid, browser, link[1]
}

// BenchmarkMonitor reads pages about sweeps that have ended. Answers are kept for a second, so that
// each page is read after that. kB is what travels, monitor-MB and master-MB the memory of both at
// its peak so far.
func BenchmarkMonitor(b *testing.B) {
	for _, n := range []int64{5_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			fillStore(b, filepath.Join(dir, "master"), n)
			master, err := startMaster(dir)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(master.end)
			pid, browser, at := openMonitor(b, dir, "--master", filepath.Join(dir, "m.sock"))
			sweep := "/sweeps/train-1"
			for _, page := range []struct{ name, path string }{
				{"overview", "/"},
				{"failures", "/failures"},
				{"sweeps", "/sweeps"},
				{"sweep", sweep},
				{"filter", sweep + "?where=" + url.QueryEscape("lr=0.1 and accuracy>0.5")},
				{"text", sweep + "?where=" + url.QueryEscape("reason~foo")},
				{"sort", sweep + "?sort=loss"},
				{"sort of a filter", sweep + "?sort=loss&where=" + url.QueryEscape("accuracy>0.5")},
				{"task", sweep + "/tasks/17"},
				{"tasks", "/tasks"},
			} {
				b.Run(page.name, func(b *testing.B) {
					read := 0
					for b.Loop() {
						b.StopTimer()
						time.Sleep(1100 * time.Millisecond)
						b.StartTimer()
						read = readPage(b, browser, at+page.path)
					}
					b.ReportMetric(float64(read)/1000, "kB")
					b.ReportMetric(peakMemory(pid), "monitor-MB")
					b.ReportMetric(peakMemory(master.cmd.Process.Pid), "master-MB")
				})
			}
		})
	}
}

// readPage reads a page as browsers do, and returns how many bytes travelled.
func readPage(b *testing.B, browser *http.Client, at string) int {
	b.Helper()
	r, err := http.NewRequest(http.MethodGet, at, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip")
	answer, err := browser.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	counted := &counter{from: answer.Body}
	var text io.Reader = counted
	if answer.Header.Get("Content-Encoding") == "gzip" {
		if text, err = gzip.NewReader(counted); err != nil {
			b.Fatal(err)
		}
	}
	page, err := io.ReadAll(text)
	if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(page), "</html>") {
		b.Fatalf("%s: %d, %v, %.2000s", at, answer.StatusCode, err, page)
	}
	return counted.n
}

type counter struct {
	from io.Reader
	n    int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += n
	return n, err
}

// BenchmarkTabs runs 3,000 tasks while a number of tabs shows their sweep. kB/s is what one tab
// reads.
func BenchmarkTabs(b *testing.B) {
	for _, tabs := range []int{0, 1, 20} {
		b.Run(fmt.Sprint(tabs), func(b *testing.B) {
			dir := b.TempDir()
			for name, text := range map[string]string{
				"tasks.yml":      "tasks:\n  load: {command: ['true'], parameters: parameters.yml}\n",
				"parameters.yml": "i: !interval [0, 3000]\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			_, browser, at := openMonitor(b, dir)
			run := 0
			for b.Loop() {
				b.StopTimer()
				run++
				ctx, leave := context.WithCancel(context.Background())
				var open sync.WaitGroup
				read := make([]int, tabs)
				cmd := exec.Command(program, "-q", "load")
				cmd.Dir, cmd.Stdout, cmd.Stderr = dir, io.Discard, os.Stderr
				b.StartTimer()
				began := time.Now()
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				live := fmt.Sprintf("%s/live/sweeps/load-%d", at, run)
				for i := range tabs {
					open.Go(func() { read[i] = watchTab(ctx, browser, live) })
				}
				if err := cmd.Wait(); err != nil {
					b.Fatal(err)
				}
				took := time.Since(began).Seconds()
				leave()
				open.Wait()
				b.ReportMetric(3000/took, "tasks/s")
				if tabs > 0 {
					if read[0] == 0 {
						b.Fatal("a tab was shown nothing")
					}
					b.ReportMetric(float64(read[0])/1000/took, "kB/s")
				}
			}
		})
	}
}

// watchTab reads the live stream of a page, compressed, and returns how many bytes travelled. It
// comes back until the sweep is there.
func watchTab(ctx context.Context, browser *http.Client, at string) (read int) {
	for ctx.Err() == nil {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
		if err != nil {
			return read
		}
		r.Header.Set("Accept-Encoding", "gzip")
		answer, err := browser.Do(r)
		if err != nil {
			return read
		}
		if answer.StatusCode == http.StatusOK {
			n, _ := io.Copy(io.Discard, answer.Body)
			read += int(n)
		}
		_ = answer.Body.Close()
		time.Sleep(50 * time.Millisecond)
	}
	return read
}
