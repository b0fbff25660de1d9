// SPDX-License-Identifier: Apache-2.0
// Trains a scene on the GPU, once for each policy and each form of the backward kernel.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <random>

#include "traces/capture/common/gpu_info.hpp"
#include "traces/capture/common/input.hpp"
#include "traces/capture/common/trace_file.hpp"
#include "traces/capture/reduce/reduce_arc_tuner.hpp"
#include "traces/capture/splat/for_each_tile.hpp"
#include "traces/capture/splat/scene_file.hpp"
#include "traces/capture/training/commands.hpp"
#include "traces/capture/training/png_file.hpp"
#include "traces/capture/training/trainer.hpp"

namespace warpfold::capture::training {
namespace {

using Json = nlohmann::ordered_json;
using Tuner = ReduceArcTuner<Policy>;

constexpr const char* kLoss = "0.8 L1 + 0.2 (1 - SSIM), 11x11 window, against the photo on black";
constexpr const char* kAuto = "auto";
constexpr int kReportEvery = 500;

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

std::vector<View> load_views(const TrainOptions& options) {
  std::vector<View> views = read_transforms(options.transforms, 1, 1);
  const auto file = [&](const View& view) { return options.images / (view.name + ".png"); };
  const PngImage first = read_png(file(views.front()));
  views = read_transforms(options.transforms, first.width, first.height);
  std::mutex lock;
  std::string failure;
  for_each_tile(views.size(), [&](std::size_t i) {
    try {
      const PngImage image = read_png(file(views[i]));
      if (image.width != first.width || image.height != first.height) {
        throw InputError(file(views[i]).string() + ": is not as large as the others");
      }
      views[i].photo = on_black(image.bytes);
    } catch (const InputError& error) {
      const std::scoped_lock guard(lock);
      failure = error.what();
    }
  });
  if (!failure.empty()) {
    throw InputError(failure);
  }
  return views;
}

// Every policy and threshold that the tuner tries.
std::vector<Policy> candidates() {
  std::vector<Policy> policies = {{Variant::kBaseline, 0}};
  for (const Variant variant : {Variant::kSwB, Variant::kSwS}) {
    for (const int threshold : balancing_thresholds()) {
      policies.push_back({variant, threshold});
    }
  }
  return policies;
}

// Views in an order that is drawn anew whenever all have been seen.
class ViewOrder {
 public:
  ViewOrder(std::size_t views, std::uint64_t seed) : order_(views), engine_(seed) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    next_ = views;
  }
  std::size_t next() {
    if (next_ == order_.size()) {
      for (std::size_t i = order_.size(); i > 1; --i) {
        std::swap(order_[i - 1], order_[engine_() % i]);
      }
      next_ = 0;
    }
    return order_[next_++];
  }

 private:
  std::vector<std::size_t> order_;
  std::size_t next_ = 0;
  std::mt19937_64 engine_;
};

// The photo on the left, the rendered picture on the right.
PngImage side_by_side(const View& view, const std::vector<float>& image) {
  const auto width = static_cast<std::size_t>(view.camera.width);
  const auto height = static_cast<std::size_t>(view.camera.height);
  PngImage png;
  png.width = 2 * view.camera.width;
  png.height = view.camera.height;
  png.channels = 3;
  png.bytes.resize(6 * width * height);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        const std::size_t from = (c * height + y) * width + x;
        const std::size_t to = 3 * (2 * y * width + x) + c;
        png.bytes[to] = view.photo[from];
        png.bytes[to + 3 * width] =
            static_cast<std::uint8_t>(std::lround(255 * std::clamp(image[from], 0.0F, 1.0F)));
      }
    }
  }
  return png;
}

class Training {
 public:
  // `name`: of a form, or of a policy of the original kernel.
  Training(const TrainOptions& options, const std::vector<View>& views, const Model& model,
           const std::string& name, bool write_snapshots)
      : options_(options),
        views_(views),
        name_(name),
        form_(splat_forms::form_of(name)),
        write_snapshots_(write_snapshots),
        order_(views.size(), options.seed) {
    settings_.iterations = options.iterations;
    settings_.seed = options.seed;
    std::vector<Camera> cameras;
    for (const View& view : views) {
      cameras.push_back(view.camera);
    }
    extent_ = extent_of(cameras);
    trainer_.emplace(views, model, extent_, settings_, Rendering{options.tiles, form_});
    if (name == kAuto) {
      tuner_.emplace(candidates(), options.tune_every);
    } else if (!form_) {
      policy_ = parse_policy(name);
    }
  }

  Json run() {
    for (int iteration = 1; iteration <= settings_.iterations; ++iteration) {
      step(iteration);
      if (iteration % kReportEvery == 0 || iteration == settings_.iterations) {
        report(iteration);
      }
    }
    result_[form_ ? "form" : "policy"] = name_;
    result_["iterations"] = settings_.iterations;
    result_["gaussians"] = trainer_->count();
    const double backward_ms = trainer_->backward_ms();
    result_["seconds"] = {{"training", seconds_},
                          {"backward_kernel", backward_ms * 1e-3},
                          {"tuning", tuning_seconds_}};
    if (tuner_) {
      result_["tuned"] = tuned_;
    }
    if (form_ && splat_forms::in_fixed_point(*form_)) {
      result_["saturated_additions"] = trainer_->saturated();
    }
    evaluate();
    result_["progress"] = progress_;
    return result_;
  }

 private:
  void step(int iteration) {
    const Stopwatch watch;
    Trainer& trainer = *trainer_;
    degree_ = degree_at(settings_, iteration, kMaxDegree);
    const std::size_t view = order_.next();
    trainer.forward(view, degree_);
    backward(iteration);
    trainer.finish_backward();
    double paused = 0;
    if (write_snapshots_ && std::find(options_.snapshots.begin(), options_.snapshots.end(),
                                      iteration) != options_.snapshots.end()) {
      trainer.wait();
      const Stopwatch pause;
      snapshot(iteration, views_[view]);
      paused = pause.seconds();
    }
    trainer.update(iteration, rates_at(iteration, extent_));
    if (densifies_at(settings_, iteration)) {
      trainer.densify(iteration);
    }
    if (resets_at(settings_, iteration)) {
      trainer.reset_opacities();
    }
    if (iteration == settings_.iterations) {
      trainer.wait();
    }
    seconds_ += watch.seconds() - paused;
  }

  void backward(int iteration) {
    Trainer& trainer = *trainer_;
    const auto prepare = [&] { trainer.clear_gradients(); };
    const auto launch = [&](const Policy& policy) { trainer.launch(policy); };
    if (!tuner_) {
      prepare();
      launch(policy_);
      return;
    }
    const Stopwatch watch;
    const std::size_t rounds = tuner_->rounds();
    const Policy& best =
        tuner_->run(prepare, launch, [&](const auto& work) { return trainer.timed(work); });
    if (tuner_->rounds() != rounds) {
      tuning_seconds_ += watch.seconds();
      tuned_.push_back(
          {{"iteration", iteration}, {"policy", best.name()}, {"ms", tuner_->best_time()}});
    }
  }

  void snapshot(int iteration, const View& view) {
    Scene scene;
    scene.name = options_.name + "@" + std::to_string(iteration);
    scene.state = "in training, after " + std::to_string(iteration - 1) +
                  " iterations from random points, seed " + std::to_string(options_.seed);
    scene.view = "view " + view.name + " of " + options_.transforms.filename().string();
    scene.loss = kLoss;
    scene.camera = view.camera;
    scene.gaussians = trainer_->scene_gaussians();
    scene.loss_gradient = trainer_->loss_gradient();
    const auto path =
        options_.out / (options_.name + "-" + std::to_string(iteration) + ".gaussians");
    write_gaussians(path, scene);
    std::printf("  %s: %zu Gaussians\n", path.c_str(), scene.gaussians.size());
  }

  void report(int iteration) {
    const double loss = trainer_->loss();
    std::printf("  iteration %6d  loss %8.5f  %8zu Gaussians  %7.2f s\n", iteration, loss,
                trainer_->count(), seconds_);
    std::fflush(stdout);
    progress_.push_back({{"iteration", iteration},
                         {"loss", loss},
                         {"gaussians", trainer_->count()},
                         {"seconds", seconds_}});
  }

  void evaluate() {
    double sum = 0;
    double least = 0;
    for (std::size_t v = 0; v < views_.size(); ++v) {
      const double psnr = -10 * std::log10(trainer_->squared_error(v, degree_));
      sum += psnr;
      least = v == 0 ? psnr : std::min(least, psnr);
    }
    result_["psnr_db"] = {{"mean", sum / static_cast<double>(views_.size())}, {"least", least}};
    const auto shown = static_cast<std::size_t>(options_.picture_view) % views_.size();
    (void)trainer_->squared_error(shown, degree_);
    std::string name = options_.name + "-" + name_ + ".png";
    std::replace(name.begin(), name.end(), ':', '-');
    write_png(options_.out / name, side_by_side(views_[shown], trainer_->image()));
    result_["picture"] = name;
  }

  const TrainOptions& options_;
  const std::vector<View>& views_;
  std::string name_;
  std::optional<splat_forms::Form> form_;
  bool write_snapshots_;
  ViewOrder order_;
  Settings settings_;
  double extent_ = 0;
  std::optional<Trainer> trainer_;
  Policy policy_;
  std::optional<Tuner> tuner_;
  int degree_ = 0;
  double seconds_ = 0;
  double tuning_seconds_ = 0;
  Json tuned_ = Json::array();
  Json progress_ = Json::array();
  Json result_;
};

void check_options(const TrainOptions& options) {
  if (options.iterations < 1 || options.points < 4 || options.tune_every < 1 ||
      options.picture_view < 0) {
    throw InputError("iterations, points, the tuning period and the picture must be positive");
  }
  for (const std::string& policy : options.policies) {
    if (policy != kAuto) {
      (void)parse_policy(policy);
    }
  }
  for (const std::string& form : options.forms) {
    if (!splat_forms::form_of(form)) {
      throw InputError("no form '" + form + "' of the backward kernel; there are " +
                       splat_forms::form_names());
    }
  }
  for (const int iteration : options.snapshots) {
    if (iteration < 1 || iteration > options.iterations) {
      throw InputError("there is no iteration " + std::to_string(iteration) + " to snapshot");
    }
  }
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) {
    throw InputError(options.out.string() + ": cannot be made: " + error.message());
  }
}

void check_capability(const TrainOptions& options, const GpuInfo& gpu) {
  for (const std::string& form : options.forms) {
    const int least = splat_forms::least_capability(*splat_forms::form_of(form));
    if (gpu.compute_capability < least) {
      throw InputError("form " + form + " needs compute capability " + std::to_string(least / 10) +
                       "." + std::to_string(least % 10) + " or more");
    }
  }
}

}  // namespace

int train_command(const TrainOptions& options) {
  check_options(options);
  const GpuInfo gpu = gpu_info();
  check_capability(options, gpu);
  const Stopwatch loading;
  const std::vector<View> views = load_views(options);
  const Model model = initial_model(random_points(options.points, options.seed));
  const Camera& camera = views.front().camera;
  std::printf("%s on %s: %zu views of %dx%d, loaded in %.1f s\n", options.name.c_str(),
              gpu.name.c_str(), views.size(), camera.width, camera.height, loading.seconds());
  Json json;
  json["schema"] = "warpfold.training/1";
  json["scene"] = options.name;
  json["gpu"] = gpu.name;
  json["driver"] = gpu.driver;
  json["views"] = views.size();
  json["width"] = camera.width;
  json["height"] = camera.height;
  json["background"] = "black";
  json["tiles"] = options.tiles == TileRule::kTight ? "tight" : "box";
  json["initial_points"] = options.points;
  json["seed"] = options.seed;
  json["runs"] = Json::array();
  bool first = true;
  std::vector<std::string> names = options.policies;
  names.insert(names.end(), options.forms.begin(), options.forms.end());
  for (const std::string& name : names) {
    std::printf("%s\n", name.c_str());
    Training training(options, views, model, name, first);
    const Json result = training.run();
    std::printf("  PSNR %.3f dB (least %.3f), %.2f s, backward render kernel %.2f s\n",
                result.at("psnr_db").at("mean").get<double>(),
                result.at("psnr_db").at("least").get<double>(),
                result.at("seconds").at("training").get<double>(),
                result.at("seconds").at("backward_kernel").get<double>());
    json["runs"].push_back(result);
    first = false;
    if (!options.json.empty()) {
      write_text(options.json, json.dump(1) + "\n");
    }
  }
  return 0;
}

}  // namespace warpfold::capture::training
