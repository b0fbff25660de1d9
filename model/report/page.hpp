// SPDX-License-Identifier: Apache-2.0
// The report as one HTML page that loads nothing from anywhere.
#pragma once

#include <string>
#include <string_view>

#include "model/report/report_data.hpp"

namespace warpfold::report {

// Text of an element or of an attribute in quotes: nothing in it is read as HTML.
std::string escape_html(std::string_view text);

// JSON text for a <script> of data: nothing in it ends the element or begins a comment.
std::string json_for_script(const nlohmann::ordered_json& document);

// The page: template, style, scripts and library from the build, with the data in it. `version` is
// Warpfold's.
std::string report_page(const ReportData& data, std::string_view version);

}  // namespace warpfold::report
