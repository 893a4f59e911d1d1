<?php
require __DIR__ . '/partner.php';

$curl = curl_init();
partner(function (string $method, string $url, array $headers, ?string $body) use ($curl): array {
    $fields = [];
    curl_reset($curl);
    curl_setopt_array($curl, [
        CURLOPT_URL => $url,
        CURLOPT_CUSTOMREQUEST => $method,
        CURLOPT_HTTPHEADER => $headers,
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 60,
        CURLOPT_ENCODING => '',
        CURLOPT_HEADERFUNCTION => function ($curl, string $line) use (&$fields): int {
            if (str_contains($line, ': ')) {
                [$name, $value] = explode(': ', trim($line), 2);
                $fields[strtolower($name)] = $value;
            }
            return strlen($line);
        },
    ]);
    if ($body !== null) {
        curl_setopt($curl, CURLOPT_POSTFIELDS, $body);
    }
    $answer = curl_exec($curl);
    return [curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $fields, $answer];
});
