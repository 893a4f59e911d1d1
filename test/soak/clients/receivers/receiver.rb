# The guide's sample lies beside this file. Debian's Ruby has no server without another package.
require 'socket'
require_relative 'verify'

server = TCPServer.new('127.0.0.1', ENV.fetch('PORT').to_i)
loop do
  connection = server.accept
  headers = {}
  while (line = connection.gets) && line != "\r\n"
    name, value = line.chomp.split(': ', 2)
    headers[name.downcase] = value
  end
  body = connection.read(headers['content-length'].to_i)
  status = verify(headers, body, ENV.fetch('WEBHOOK_SECRET')) ? '204 No Content' : '401 Unauthorized'
  connection.write("HTTP/1.1 #{status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
  connection.close
end
