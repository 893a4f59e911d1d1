// Package main is a partner's program that uses net/http.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

var client = &http.Client{Timeout: 60 * time.Second}

type object = map[string]any

func ask(method, path string, body any, more ...string) (int, http.Header, []byte) {
	var sent io.Reader
	if body != nil {
		text, _ := json.Marshal(body)
		sent = bytes.NewReader(text)
	}
	request, _ := http.NewRequest(method, os.Getenv("PARTNER_BASE_URL")+"/sandbox"+path, sent)
	request.Header.Set("X-API-Key", os.Getenv("PARTNER_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(more); i += 2 {
		request.Header.Set(more[i], more[i+1])
	}
	answer, err := client.Do(request)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header, text
}

type envelope struct {
	Data struct {
		UserID    int    `json:"user_id"`
		FirstName string `json:"first_name"`
		Name      string `json:"name"`
	}
	Error struct{ Errors []struct{ Path string } }
}

// encoding/json ignores the case of names, and a listing has a field `bookings` of another type.
type feedPage struct {
	Data struct {
		Bookings []struct{ Version string }
	}
}

func read[T any](text []byte) (answer T) {
	if err := json.Unmarshal(text, &answer); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return answer
}

func replayed(header http.Header) string {
	if value := header.Get("Idempotent-Replayed"); value != "" {
		return value
	}
	return "new"
}

func main() {
	user := object{"email": "lucja@example.com", "first_name": "Łucja", "last_name": "Puig"}
	status, _, text := ask("POST", "/users", user, "Idempotency-Key", "guest-1")
	guest := read[envelope](text).Data
	fmt.Printf("user\t%d\t%s\n", status, guest.FirstName)
	stay := object{"user_id": guest.UserID, "listing_id": 2001, "room_type_id": 3001,
		"checkin_at": "2029-01-01", "checkout_at": "2029-02-01"}
	status, header, first := ask("POST", "/bookings", stay, "Idempotency-Key", "order-1")
	fmt.Printf("booking\t%d\t%s\n", status, replayed(header))
	status, header, again := ask("POST", "/bookings", stay, "Idempotency-Key", "order-1")
	fmt.Printf("repeat\t%d\t%s\n", status, replayed(header))
	same := map[bool]string{true: "True", false: "False"}[bytes.Equal(first, again)]
	fmt.Printf("same\t%s\n", same)
	status, _, _ = ask("PATCH", "/listings/2001", object{"name": "Łódź"})
	_, _, text = ask("GET", "/listings/2001", nil)
	fmt.Printf("patch\t%d\t%s\n", status, read[envelope](text).Data.Name)
	feed := "/integrations/provider_one/bookings"
	_, header, text = ask("GET", feed, nil)
	bookings := read[feedPage](text).Data.Bookings
	query := url.Values{"updated_after": {bookings[len(bookings)-1].Version}, "wait": {"2"}}
	begun := time.Now()
	status, _, text = ask("GET", feed+"?"+query.Encode(), nil)
	held := map[bool]string{true: "held", false: "early"}[time.Since(begun) >= 2*time.Second]
	fmt.Printf("poll\t%d\t%d\t%s\n", status, len(read[feedPage](text).Data.Bookings), held)
	status, _, text = ask("POST", "/users", object{})
	fmt.Printf("invalid\t%d\t%s\n", status, read[envelope](text).Error.Errors[0].Path)
	status, _, _ = ask("GET", feed, nil, "If-None-Match", header.Get("ETag"))
	fmt.Printf("unchanged\t%d\n", status)
}
