// Command probe is what runs in the containers of the tests: each says what it sees from inside.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	args := append(os.Args[1:], "", "")
	switch args[0] {
	case "serve": // until SIGTERM
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM)
		fmt.Println("ready")
		fmt.Fprintln(os.Stderr, "warned")
		<-stop
		fmt.Println("leaving")
		os.Exit(3)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		for {
			time.Sleep(time.Hour)
		}
	case "exit":
		code, _ := strconv.Atoi(args[1])
		fmt.Fprintln(os.Stderr, "ends with", code)
		os.Exit(code)
	case "confined":
		confined()
	case "cat":
		n, err := io.Copy(os.Stdout, os.Stdin)
		fmt.Fprintln(os.Stderr, "read", n, err)
	case "deaf": // its input is never read
		fmt.Println("done")
	case "print":
		n, _ := strconv.Atoi(args[1])
		for i := range n {
			fmt.Println("line", i)
		}
	case "owner":
		var at syscall.Stat_t
		if err := syscall.Stat(args[1], &at); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Printf("%d:%d %o\n", at.Uid, at.Gid, at.Mode&0o7777)
	case "write":
		if err := os.WriteFile(args[1], []byte("written\n"), 0o600); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	case "dial": // for so long
		wait, err := time.ParseDuration(args[2])
		if err != nil {
			fmt.Println(err)
			os.Exit(2)
		}
		conn, err := net.DialTimeout("tcp", args[1], wait)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		conn.Close()
	case "listen":
		l, err := net.Listen("tcp", args[1])
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("listening")
		for {
			conn, err := l.Accept()
			if err != nil {
				os.Exit(1)
			}
			conn.Close()
		}
	case "env":
		host, _ := os.Hostname()
		dir, _ := os.Getwd()
		fmt.Println(host, dir, os.Getuid(), os.Getgid(), os.Getenv("COLOUR"))
	default:
		fmt.Fprintln(os.Stderr, "probe does not know", args[0])
		os.Exit(2)
	}
}

// confined prints what the kernel allows this process, and what it may write.
func confined() {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		switch name, value, _ := strings.Cut(line, ":"); name {
		case "CapBnd", "CapEff", "CapPrm", "NoNewPrivs", "Seccomp", "Uid":
			fmt.Println(name, strings.Join(strings.Fields(value), " "))
		}
	}
	for _, path := range []string{"/written", "/tmp/written"} {
		err := os.WriteFile(path, nil, 0o600)
		fmt.Println(path, err == nil)
	}
	self, _ := os.ReadFile("/probe")
	_ = os.WriteFile("/tmp/probe", self, 0o700)
	child, err := os.StartProcess("/tmp/probe", []string{"probe", "deaf"}, &os.ProcAttr{})
	if err == nil {
		_, _ = child.Wait()
	}
	fmt.Println("run from /tmp", err == nil)
}
