package main

import (
	"io"
	"log"
	"net/http"
	"os"
)

// The guide's sample lies beside this file.
func main() {
	receive := func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 65536))
		if err != nil || !verify(request.Header, body, os.Getenv("WEBHOOK_SECRET")) {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		response.WriteHeader(http.StatusNoContent)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(receive)))
}
