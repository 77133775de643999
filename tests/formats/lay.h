#pragma once

#include <filesystem>
#include <string>
#include <vector>

// Lays out the data directories of README.md for a test.
namespace callslip::tracker {

const std::filesystem::path& Formats();
std::string Contents(const std::filesystem::path& path);
// The names of the formats' folders that contain `holds`.
std::vector<std::string> Holding(const char* holds);
// Writes a format's files of commands to `to`, as its tracker left them.
void Lay(const std::string& format, const std::string& to);

}  // namespace callslip::tracker
