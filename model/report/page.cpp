// SPDX-License-Identifier: Apache-2.0
#include "model/report/page.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "model/report/page_parts.hpp"

namespace warpfold::report {
namespace {

// Puts values where the template says {{name}}. What is put in is not looked at again.
std::string fill(std::string_view text,
                 const std::map<std::string_view, std::string_view>& values) {
  std::string out;
  while (true) {
    const std::size_t begin = text.find("{{");
    out += text.substr(0, begin);
    if (begin == std::string_view::npos) {
      return out;
    }
    const std::size_t end = text.find("}}", begin);
    const auto value = values.find(text.substr(begin + 2, end - begin - 2));
    if (end == std::string_view::npos || value == values.end()) {
      throw std::logic_error("the report's template names what is not there");
    }
    out += value->second;
    text.remove_prefix(end + 2);
  }
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string json_for_script(const nlohmann::ordered_json& document) {
  // In JSON, < stands in strings alone.
  std::string out;
  for (const char c :
       document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string report_page(const ReportData& data, std::string_view version) {
  const PageParts& parts = page_parts();
  const std::string title = escape_html(data.title);
  const std::string json = json_for_script(data.document);
  const std::string version_text = escape_html(version);
  return fill(parts.html, {{"title", title},
                           {"version", version_text},
                           {"style", parts.style},
                           {"library", parts.library},
                           {"library-version", parts.library_version},
                           {"script", parts.script},
                           {"data", json}});
}

}  // namespace warpfold::report
