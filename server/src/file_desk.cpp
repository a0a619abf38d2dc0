#include "file_desk.h"

#include <sys/resource.h>

#include <chrono>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "palpate/core/error.h"
#include "scene_bounds.h"

namespace palpate {

/// What a thread works on. It holds all that it needs: the desk may be gone before it is done.
struct FileDesk::Job {
  Upload upload;                           ///< to be read, unless there is
  std::shared_ptr<const OpenedFile> file;  ///< … this
  std::optional<MeshChoice> choice;        ///< of its mesh; none: what is suggested
  const std::atomic<bool>* stop = nullptr;
  bool given_up = false;  ///< the desk's

  std::optional<Prepared> ready;
  std::string error;
  std::promise<void> done;
  std::future<void> is_done = done.get_future();

  /// Fills the holes if that is wished for the first time; what then cannot be soft is static, and says why.
  static void settle(OpenedFile& file, MeshChoice& choice) {
    if (choice.repair && !file.filled) file.filled = fill_opened(file.name, *file.mesh);
    const OpenedMesh& m = file.mesh_of(choice);
    choice.soft = choice.soft && m.refused_soft.empty();
    if (choice.soft && choice.cell == 0.0) choice.cell = choice.scale * m.suggested.cell / m.suggested.scale;
  }

  /// What has become of the mesh.
  void note_solid() {
    const WorldBody& body = ready->world->bodies().front();
    TriangleMesh surface;
    surface.vertices.assign(body.body->surface().positions.begin(), body.body->surface().positions.end());
    surface.triangles.assign(body.body->surface().triangles.begin(), body.body->surface().triangles.end());
    const MeshReport report = check_mesh(surface);
    OpenedFile with = *file;
    with.solid = {report.components, report.volume};
    file = std::make_shared<const OpenedFile>(std::move(with));
  }

  void work() noexcept {
    try {
      if (!file) file = std::make_shared<const OpenedFile>(read_opened(upload));
      upload = {};
      if (choice) {
        OpenedFile changed = *file;
        settle(changed, *choice);
        changed.scene = make_opened_scene(changed.name, changed.mesh_of(*choice), *choice);
        file = std::make_shared<const OpenedFile>(std::move(changed));
      } else if (file->mesh) {
        choice = file->mesh->suggested;
      }
      check_bounds(file->scene);
      ready = prepare(file->scene, {}, {}, stop);
      if (choice && choice->soft) note_solid();
    } catch (const std::exception& e) {  // bad_alloc too: a page must not end the engine
      error = e.what();
    }
    done.set_value();
  }
};

FileDesk::FileDesk() = default;

FileDesk::~FileDesk() {
  // A thread that is left alone ends with the program.
  if (job_) job_->is_done.wait_for(std::chrono::seconds(3));
}

bool FileDesk::open(Upload upload, const std::atomic<bool>* stop, double now) {
  if (job_) return false;
  auto job = std::make_shared<Job>();
  name_ = upload.name;
  job->upload = std::move(upload);
  job->stop = stop;
  start(std::move(job), now);
  return true;
}

bool FileDesk::choose(const MeshChoice& choice, const std::atomic<bool>* stop, double now) {
  if (job_ || !open_ || !is_allowed(*open_, choice)) return false;
  auto job = std::make_shared<Job>();
  job->file = open_;
  job->choice = choice;
  job->stop = stop;
  name_ = open_->name;
  start(std::move(job), now);
  return true;
}

void FileDesk::start(std::shared_ptr<Job> job, double now) {
  error_.clear();
  since_ = now;
  job_ = std::move(job);
  std::thread([job = job_] {
    setpriority(PRIO_PROCESS, 0, 10);  // of this thread, on Linux
    job->work();
  }).detach();
}

std::optional<Prepared> FileDesk::take(double now) {
  if (!job_) return std::nullopt;
  if (job_->is_done.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    if (now > since_ + kPatience && !job_->given_up) {
      job_->given_up = true;
      error_ = fmt::format("{}: takes longer than {:.0f} s and was given up; try fewer triangles or larger cells",
                           name_, kPatience);
    }
    return std::nullopt;
  }
  const std::shared_ptr<Job> job = std::move(job_);
  job_ = nullptr;
  if (job->given_up) return std::nullopt;
  error_ = job->error;
  if (!job->ready) return std::nullopt;
  open_ = job->file;
  choice_ = job->choice.value_or(MeshChoice{});
  return std::move(job->ready);
}

nlohmann::ordered_json FileDesk::make_json(double now) const {
  if (name_.empty()) return nullptr;
  nlohmann::ordered_json out = {
      {"name", name_},   {"busy", job_ && !job_->given_up},  {"seconds", job_ ? now - since_ : 0.0},
      {"error", error_}, {"open", open_ ? open_->name : ""}, {"scene", open_ ? open_->scene.name : ""},
      {"mesh", nullptr}};
  if (open_ && open_->mesh) out["mesh"] = palpate::make_json(open_->mesh_of(choice_), choice_, open_->solid);
  return out;
}

}  // namespace palpate
