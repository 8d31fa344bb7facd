package main_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// roundTrip is how far away the hosts of benchmarks are.
const roundTrip = 10 * time.Millisecond

// distant is a laptop far from its hosts, and how it brings its cluster up.
func distant(b *testing.B, hosts int, workers string) (p *laptop, options []string) {
	b.Helper()
	p = newLaptop(b, hosts)
	for _, h := range p.lab.Hosts {
		_, port, _ := net.SplitHostPort(h.Delay(b, roundTrip).Address)
		p.configure(fmt.Sprintf("Host %s\n\tHostName 127.0.0.1\n\tPort %s\n\tHostKeyAlias %s\n",
			h.Name, port, h.Name))
	}
	return p, append(p.images(), "-a", p.hosts("anna"), "-d", "digits", "--name", "c", "-m", "1",
		"-w", workers,
		"--master-address", p.lab.Hosts[0].Address)
}

func (p *laptop) remove() {
	p.t.Helper()
	p.must("./infra-clean", "--volumes", "--files", "--yes")
}

// BenchmarkCluster is measure P15, on three hosts: -benchtime=5x is enough.
func BenchmarkCluster(b *testing.B) {
	p, options := distant(b, 3, "2,3")
	defer p.remove()
	b.Run("first", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			if n > 0 {
				b.StopTimer()
				p.remove()
				b.StartTimer()
			}
			b.Log(p.up(options...).err)
		}
	})
	b.Run("a command on every host, by ssh", func(b *testing.B) {
		for b.Loop() {
			p.everywhere("ssh %s true")
		}
	})
	b.Run("again, unchanged", func(b *testing.B) {
		for b.Loop() {
			p.up("-f")
		}
	})
	b.Run("one file changed", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			p.has("digits/version", fmt.Sprintln(n))
			p.must("update-files")
		}
	})
}

// BenchmarkFiles is measure P16, beside tar over ssh: to one host, and to three, which here share
// what this machine can.
func BenchmarkFiles(b *testing.B) {
	for hosts, workers := range map[int]string{1: "1", 3: "2,3"} {
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			p, options := distant(b, hosts, workers)
			p.up(options...)
			defer p.remove()
			b.Run("tar over ssh", func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					p.large()
					b.StartTimer()
					p.everywhere("tar c -C digits . | ssh %s 'mkdir -p tarred && tar x -C tarred'")
				}
				p.everywhere("ssh %s rm -r tarred")
			})
			b.Run("update-files", func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					p.large()
					b.StartTimer()
					p.must("update-files")
				}
			})
			b.Run("update-files, unchanged", func(b *testing.B) {
				for b.Loop() {
					p.must("update-files")
				}
			})
		})
	}
}

// everywhere runs a line of shell for every host at once.
func (p *laptop) everywhere(line string) {
	p.t.Helper()
	var all sync.WaitGroup
	for _, h := range p.lab.Hosts {
		all.Go(func() {
			c := exec.Command("sh", "-c", fmt.Sprintf(line, "anna@"+h.Name))
			c.Dir, c.Env = p.work, append(os.Environ(), "PATH="+p.home+"/bin:"+os.Getenv("PATH"))
			if out, err := c.CombinedOutput(); err != nil {
				p.t.Errorf("%s: %v: %s", line, err, out)
			}
		})
	}
	all.Wait()
}

// large gives the project 1501 new files of 53 MB in all. Their content is random, like that of
// compressed data, and they are dated a minute back, as the cache of hashes does not trust a file
// that was just written.
func (p *laptop) large() {
	p.t.Helper()
	settled := time.Now().Add(-time.Minute)
	content := make([]byte, 35_300)
	r := rand.NewChaCha8([32]byte{byte(time.Now().UnixNano()), byte(time.Now().UnixNano() >> 8),
		byte(time.Now().UnixNano() >> 16)})
	for i := range 1501 {
		_, _ = r.Read(content)
		file := filepath.Join(p.work, "digits", fmt.Sprint("folder", i%40), fmt.Sprint("file", i))
		err := os.MkdirAll(filepath.Dir(file), 0o700)
		if err == nil {
			err = os.WriteFile(file, content, 0o600)
		}
		if err == nil {
			err = os.Chtimes(file, settled, settled)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
}
