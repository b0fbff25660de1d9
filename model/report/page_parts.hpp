// SPDX-License-Identifier: Apache-2.0
// The files of model/report/page and the plotting library, embedded by the build.
#pragma once

#include <string_view>

namespace warpfold::report {

struct PageParts {
  std::string_view html;  // template with {{title}}, {{style}} and so on
  std::string_view style;
  std::string_view script;  // all scripts of the page, in their order
  std::string_view library;
  std::string_view library_version;
};

const PageParts& page_parts();

}  // namespace warpfold::report
