// The work of `benchmarks peers`, done with golang.org/x/oauth2.
//
// It reads one order a line and answers each with one line of numbers:
//
//	added TASKS ACCOUNTS REQUESTS        microseconds of processor time that a request costs more than without an account
//	sign-in TOKEN-URL CLIENT REFRESH     takes over a session; answers 0
//	stampede REQUESTS                    milliseconds until all have an answer; how many failed
//
// `oauth2 open FILE KEY` decrypts a file and prints what it holds; `oauth2 seal FILE KEY` makes both.
package main

import (
	"bufio"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/oauth2"
)

// memory answers immediately.
type memory struct{}

func (memory) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
}

func processorSeconds() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	seconds := func(time syscall.Timeval) float64 { return float64(time.Sec) + float64(time.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// cost is the microseconds of processor time of one request when tasks share them.
func cost(tasks, requests int, transport func(number int) http.RoundTripper) float64 {
	request, err := http.NewRequest("GET", "https://service.example/api/things/1", nil)
	check(err)
	share := requests / tasks
	start := processorSeconds()
	var group sync.WaitGroup
	for task := 0; task < tasks; task++ {
		group.Add(1)
		go func(task int) {
			defer group.Done()
			for number := 0; number < share; number++ {
				_, err := transport(number*tasks + task).RoundTrip(request)
				check(err)
			}
		}(task)
	}
	group.Wait()
	return (processorSeconds() - start) / float64(share*tasks) * 1e6
}

var accounts = map[int][]http.RoundTripper{}

func added(tasks, count, requests int) float64 {
	if accounts[count] == nil {
		for number := 0; number < count; number++ {
			token := &oauth2.Token{
				AccessToken: "0123456789abcdef0123456789abcdef", TokenType: "Bearer",
				Expiry: time.Now().Add(24 * time.Hour)}
			source := oauth2.ReuseTokenSource(token, nil)
			accounts[count] = append(accounts[count], &oauth2.Transport{Source: source, Base: memory{}})
		}
	}
	bare := cost(tasks, requests, func(int) http.RoundTripper { return memory{} })
	return cost(tasks, requests, func(number int) http.RoundTripper { return accounts[count][number%count] }) - bare
}

var config oauth2.Config
var session *oauth2.Token

// stampede sends all requests concurrently with a token whose time has passed.
func stampede(requests int) (milliseconds float64, failures int64) {
	session.Expiry = time.Now().Add(-time.Hour)
	source := config.TokenSource(context.Background(), session)
	transport := &oauth2.Transport{Source: source, Base: memory{}}
	request, err := http.NewRequest("GET", "https://service.example/api/things/1", nil)
	check(err)
	var group sync.WaitGroup
	start := time.Now()
	for number := 0; number < requests; number++ {
		group.Add(1)
		go func() {
			defer group.Done()
			if response, err := transport.RoundTrip(request); err != nil || response.StatusCode != 200 {
				atomic.AddInt64(&failures, 1)
			}
		}()
	}
	group.Wait()
	milliseconds = time.Since(start).Seconds() * 1e3
	session, err = source.Token()
	check(err)
	return milliseconds, failures
}

func cipherWith(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	check(err)
	sealer, err := cipher.NewGCM(block)
	check(err)
	return sealer
}

func seal(file, keyFile string) {
	key, nonce, token := make([]byte, 32), make([]byte, 12), make([]byte, 32)
	for _, bytes := range [][]byte{key, nonce, token} {
		_, err := rand.Read(bytes)
		check(err)
	}
	text := []byte(base64.RawURLEncoding.EncodeToString(token))
	check(os.WriteFile(keyFile, key, 0o600))
	check(os.WriteFile(file, append(nonce, cipherWith(key).Seal(nil, nonce, text, nil)...), 0o600))
}

func open(file, keyFile string) {
	key, err := os.ReadFile(keyFile)
	check(err)
	sealed, err := os.ReadFile(file)
	check(err)
	token, err := cipherWith(key).Open(nil, sealed[:12], sealed[12:], nil)
	check(err)
	fmt.Println(string(token))
}

func main() {
	if len(os.Args) == 4 {
		map[string]func(string, string){"open": open, "seal": seal}[os.Args[1]](os.Args[2], os.Args[3])
		return
	}
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		line := strings.NewReader(orders.Text())
		var order string
		fmt.Fscan(line, &order)
		switch order {
		case "added":
			var tasks, count, requests int
			fmt.Fscan(line, &tasks, &count, &requests)
			fmt.Println(added(tasks, count, requests))
		case "sign-in":
			session = &oauth2.Token{AccessToken: "expired"}
			config.Endpoint.AuthStyle = oauth2.AuthStyleInParams
			fmt.Fscan(line, &config.Endpoint.TokenURL, &config.ClientID, &session.RefreshToken)
			fmt.Println(0)
		case "stampede":
			var requests int
			fmt.Fscan(line, &requests)
			fmt.Println(stampede(requests))
		}
	}
}
