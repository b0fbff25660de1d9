// SPDX-License-Identifier: Apache-2.0
// The injected libraries' side of a connection to `warpfold record`. Once the other side is gone it
// stays closed, and the program goes on without being recorded. Several threads may send; one at a
// time may wait for an answer.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "traces/record/protocol.hpp"

namespace warpfold::record {

class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(); }

  // To the socket that the environment names. False where it names none, or nobody listens.
  bool open() {
    const char* path = std::getenv(kSocketVariable);
    sockaddr_un name{};
    if (path == nullptr || std::strlen(path) >= sizeof name.sun_path) {
      return false;
    }
    name.sun_family = AF_UNIX;
    std::strcpy(name.sun_path, path);
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    open_ = socket_ >= 0 &&
            ::connect(socket_, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
    return is_open();
  }
  [[nodiscard]] bool is_open() const { return open_; }
  // In a child that the program has forked: the connection is its parent's.
  void abandon() {
    open_ = false;
    close();
  }

  // A message of two parts, either of which may be empty.
  void send(Message kind, const void* first, std::size_t first_bytes, const void* second = nullptr,
            std::size_t second_bytes = 0) {
    const std::lock_guard lock(sending_);
    const MessageHead head{kind, 0, first_bytes + second_bytes};
    put(&head, sizeof head);
    put(first, first_bytes);
    put(second, second_bytes);
  }
  void send(Message kind, const std::string& text) { send(kind, text.data(), text.size()); }

  // False if the other side is gone.
  bool receive(void* data, std::size_t bytes) {
    auto* at = static_cast<char*>(data);
    while (is_open() && bytes > 0) {
      const ssize_t got = ::recv(socket_, at, bytes, 0);
      if (got > 0) {
        at += got;
        bytes -= static_cast<std::size_t>(got);
      } else if (got == 0 || errno != EINTR) {
        open_ = false;
      }
    }
    return is_open();
  }

 private:
  void put(const void* data, std::size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    while (is_open() && bytes > 0) {
      const ssize_t sent = ::send(socket_, at, bytes, MSG_NOSIGNAL);
      if (sent > 0) {
        at += sent;
        bytes -= static_cast<std::size_t>(sent);
      } else if (errno != EINTR) {
        open_ = false;
      }
    }
  }
  void close() {
    if (socket_ >= 0) {
      ::close(socket_);
    }
    socket_ = -1;
  }

  std::mutex sending_;
  std::atomic<bool> open_ = false;
  int socket_ = -1;
};

}  // namespace warpfold::record
