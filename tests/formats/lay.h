#pragma once

#include <filesystem>
#include <string>
#include <vector>

// The data directories of README.md, laid out where a test wants them.
namespace callslip::tracker {

const std::filesystem::path& Formats();
std::string Contents(const std::filesystem::path& path);
// The names of the folders that have what is called `holds`.
std::vector<std::string> Holding(const char* holds);
// Lays the commands of a format out, as its tracker has left them.
void Lay(const std::string& format, const std::string& to);

}  // namespace callslip::tracker
