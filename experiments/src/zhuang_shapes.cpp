#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "palpate/bodies/explicit_tets.h"

// Zhuang & Canny 2000, section 4, Figs. 2 and 3: what linear strain does to a body that turns, twists and bends, and
// what quadratic strain does not. Both on the same mesh, by the same explicit steps, to rest.
namespace palpate {
namespace zhuang_shapes {
namespace {

using Relation = MeasuredClaim::Relation;

struct Shape {
  std::string name;
  ExplicitModel model;
};
const Shape kLinear{"linear strain", ExplicitModel::kLinear};
const Shape kQuadratic{"quadratic strain", ExplicitModel::kStVenantKirchhoff};

ExplicitTets make_tets(const TetMesh& mesh, double young, ExplicitModel model, double damping, double poisson = 0.3) {
  const Material material{.young_modulus = young, .poisson_ratio = poisson, .density = 1000.0, .mass_damping = damping};
  return ExplicitTets(mesh, std::span(&material, 1), model);
}

/// Steps at nine tenths of the stable one; `each` is told the time before each step.
template <typename Each>
void run(ExplicitTets& tets, double seconds, const ExperimentOptions& options, const Each& each) {
  double time = 0.0, dt = 0.0;
  for (int i = 0; time < seconds; ++i) {
    if (i % 8 == 0) dt = 0.9 * tets.compute_stable_step();
    if (i % 64 == 0 && options.stop && options.stop->load()) return;
    each(time);
    tets.advance(dt);
    time += dt;
  }
}

/// The places of some nodes, one after the other, in the plane of two axes.
Series make_outline(const std::string& name, const std::vector<Vec3>& places, int across, int up, SeriesStyle style) {
  Series out;
  out.name = name;
  out.style = style;
  for (const Vec3& p : places) {
    out.x.push_back(p[across]);
    out.y.push_back(p[up]);
  }
  return out;
}

Plot make_picture(const std::string& title, const char* across, const char* up) {
  Plot plot;
  plot.title = title;
  plot.kind = PlotKind::kPath;
  plot.x_label = across;
  plot.y_label = up;
  plot.x_unit = plot.y_unit = "m";
  plot.half_width = true;
  return plot;
}

/// Nodes of a block of n cells along x, y, z.
struct Grid {
  std::array<int, 3> n;
  int node(int x, int y, int z) const { return x + (n[0] + 1) * (y + (n[1] + 1) * z); }
};

/// Around a rectangle of nodes, given by a function of two places on its sides.
template <typename Node>
std::vector<int> walk_around(int a, int b, const Node& node) {
  std::vector<int> out;
  for (int i = 0; i < a; ++i) out.push_back(node(i, 0));
  for (int j = 0; j < b; ++j) out.push_back(node(a, j));
  for (int i = a; i > 0; --i) out.push_back(node(i, b));
  for (int j = b; j >= 0; --j) out.push_back(node(0, j));
  return out;
}

std::vector<Vec3> places_of(const ExplicitTets& tets, const std::vector<int>& nodes) {
  std::vector<Vec3> out;
  for (const int n : nodes) out.push_back(tets.position(n));
  return out;
}

double compute_area(const std::vector<Vec3>& ring, int across, int up) {
  double area = 0.0;
  for (std::size_t i = 0; i + 1 < ring.size(); ++i)
    area += 0.5 * (ring[i][across] * ring[i + 1][up] - ring[i + 1][across] * ring[i][up]);
  return std::abs(area);
}

double compute_length(const std::vector<Vec3>& line) {
  double length = 0.0;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) length += (line[i + 1] - line[i]).norm();
  return length;
}

double percent(double now, double rest) {
  return 100.0 * (now / rest - 1.0);
}

// A tower, fixed below.
constexpr double kWidth = 0.05;
struct Tower {
  double height;  ///< [m]
  int cells = 6;  ///< across
  Grid grid{{cells, static_cast<int>(std::lround(cells* height / kWidth)), cells}};
  TetMesh make() const { return make_tet_block(Vec3(kWidth, height, kWidth), grid.n); }
  std::vector<int> ring_at(int level) const {
    return walk_around(grid.n[0], grid.n[2], [&](int x, int z) { return grid.node(x, level, z); });
  }
};

struct Twisted {
  double volume = 0.0, middle_area = 0.0;  ///< change [%]
  double top_area = 0.0;                   ///< the same by torque
  double angle = 0.0;                      ///< of the top by torque [deg]
  std::vector<Vec3> middle, top;
};

/// The top turned by a quarter as a whole, over a second; then a second of rest.
void twist_by_turning(const Tower& tower, const Shape& shape, const ExperimentOptions& options, Twisted& out) {
  ExplicitTets tets = make_tets(tower.make(), 1e4, shape.model, 10.0);
  const double volume = tets.compute_volume();
  const std::vector<int> middle = tower.ring_at(tower.grid.n[1] / 2);
  const double area = compute_area(places_of(tets, middle), 0, 2);
  std::vector<int> top;
  for (int i = 0; i < tets.node_count(); ++i) {
    const double y = tets.position(i).y();
    if (y < -0.499 * tower.height) tets.prescribe(i, Vec3::Zero());
    if (y > 0.499 * tower.height) top.push_back(i);
  }
  const std::vector<Vec3> start = places_of(tets, top);
  run(tets, 2.5, options, [&](double time) {
    const bool turning = time < 1.0;
    const Quat turn(Eigen::AngleAxisd(0.5 * M_PI * std::min(time, 1.0), Vec3::UnitY()));
    for (std::size_t k = 0; k < top.size(); ++k) {
      tets.set_position(top[k], turn * start[k]);
      tets.prescribe(top[k], turning ? Vec3(Vec3(0.0, 0.5 * M_PI, 0.0).cross(turn * start[k])) : Vec3(Vec3::Zero()));
    }
  });
  out.volume = percent(tets.compute_volume(), volume);
  out.middle = places_of(tets, middle);
  out.middle_area = percent(compute_area(out.middle, 0, 2), area);
}

/// The top's nodes driven around the axis by a torque [N·m] that comes on over a second.
void twist_by_torque(const Tower& tower, const Shape& shape, double torque, const ExperimentOptions& options,
                     Twisted& out) {
  ExplicitTets tets = make_tets(tower.make(), 1e4, shape.model, 10.0);
  const std::vector<int> ring = tower.ring_at(tower.grid.n[1]);
  const double area = compute_area(places_of(tets, ring), 0, 2);
  std::vector<int> top;
  std::vector<Vec3> start;
  for (int i = 0; i < tets.node_count(); ++i) {
    const double y = tets.position(i).y();
    if (y < -0.499 * tower.height) tets.prescribe(i, Vec3::Zero());
    if (y > 0.499 * tower.height) {
      top.push_back(i);
      start.push_back(tets.position(i));
    }
  }
  double squares = 0.0;
  for (const Vec3& p : start) squares += p.x() * p.x() + p.z() * p.z();
  run(tets, 4.0, options, [&](double time) {
    double sine = 0.0, cosine = 0.0;
    for (std::size_t k = 0; k < top.size(); ++k) {
      const Vec3 x = tets.position(top[k]);
      sine += start[k].z() * x.x() - start[k].x() * x.z();
      cosine += start[k].x() * x.x() + start[k].z() * x.z();
    }
    out.angle = std::atan2(sine, cosine) * 180.0 / M_PI;
    // Forces of the linear model keep their directions, as its displacements are small to it; others turn along.
    const double turned = shape.model == ExplicitModel::kLinear ? 0.0 : std::atan2(sine, cosine);
    const Quat turn(Eigen::AngleAxisd(turned, Vec3::UnitY()));
    const double size = torque * std::min(1.0, time) / squares;
    for (std::size_t k = 0; k < top.size(); ++k)
      tets.set_load(top[k], size * Vec3::UnitY().cross(turn * Vec3(start[k].x(), 0.0, start[k].z())));
  });
  out.top = places_of(tets, ring);
  out.top_area = percent(compute_area(out.top, 0, 2), area);
}

// A beam along x, fixed at its left end.
struct Bent {
  double volume = 0.0, length = 0.0;  ///< change [%]
  Vec3 tip = Vec3::Zero();
  std::vector<Vec3> outline;
};

Bent bend(const Shape& shape, const ExperimentOptions& options, double poisson = 0.3) {
  const Grid kBeam = options.choose(Grid{{20, 4, 4}}, Grid{{10, 2, 2}});
  ExplicitTets tets = make_tets(make_tet_block(Vec3(0.2, 0.04, 0.04), kBeam.n), 4e4, shape.model, 8.0, poisson);
  const double volume = tets.compute_volume();
  std::vector<int> axis;
  for (int x = 0; x <= kBeam.n[0]; ++x) axis.push_back(kBeam.node(x, kBeam.n[1] / 2, kBeam.n[2] / 2));
  const double length = compute_length(places_of(tets, axis));
  tets.set_gravity(Vec3(0.0, -9.81, 0.0));
  for (int i = 0; i < tets.node_count(); ++i) {
    if (tets.position(i).x() < -0.0999) tets.prescribe(i, Vec3::Zero());
  }
  run(tets, 3.0, options, [](double) {});
  Bent out;
  out.volume = percent(tets.compute_volume(), volume);
  out.length = percent(compute_length(places_of(tets, axis)), length);
  out.tip = tets.position(axis.back());
  out.outline = places_of(
      tets, walk_around(kBeam.n[0], kBeam.n[1], [&](int x, int y) { return kBeam.node(x, y, kBeam.n[2] / 2); }));
  return out;
}

}  // namespace

static ExperimentResult reproduce_rotation(const ExperimentOptions&) {
  ExperimentResult out;
  Plot plot;
  plot.title = "Energy of a body turned as a whole, over E times its volume";
  plot.x_label = "angle";
  plot.x_unit = "rad";
  plot.y_label = "energy";
  double worst = 0.0, least = 0.0;
  for (const Shape* shape : {&kQuadratic, &kLinear}) {
    ExplicitTets tets = make_tets(Tower{0.1}.make(), 1e4, shape->model, 0.0);
    const double scale = 1e4 * tets.compute_volume();
    std::vector<Vec3> start;
    for (int i = 0; i < tets.node_count(); ++i) start.push_back(tets.position(i));
    Series series;
    series.name = shape->name;
    for (int degrees = 0; degrees <= 180; degrees += 5) {
      const double angle = degrees * M_PI / 180.0;
      const Quat turn(Eigen::AngleAxisd(angle, Vec3(1, 2, 2).normalized()));
      for (int i = 0; i < tets.node_count(); ++i) tets.set_position(i, turn * start[as_size(i)]);
      series.x.push_back(angle);
      series.y.push_back(tets.compute_elastic_energy() / scale);
    }
    if (shape == &kQuadratic) worst = *std::max_element(series.y.begin(), series.y.end());
    if (shape == &kLinear) least = series.y[18];
    plot.series.push_back(std::move(series));
  }
  out.claims = {{"quadratic strain: most energy of any rotation, over E V", "\"no artificial strain\"", worst, 1e-12,
                 Relation::kAtMost, ""},
                {"linear strain: energy at 90°, over E V", "\"a nonzero strain\"", least, 0.1, Relation::kAtLeast, ""}};
  out.report.title = "A body turned as a whole";
  out.report.plots = {plot};
  return out;
}

static ExperimentResult reproduce_twist(const ExperimentOptions& options) {
  // That turns the top of the quadratic model by about a quarter.
  constexpr double kTorque = 0.027;
  const int cells = options.choose(6, 2);
  const Tower tower{4.0 * kWidth, cells}, stocky{2.0 * kWidth, cells};
  ExperimentResult out;
  Plot middle = make_picture("Half-way up, the top turned by 90° as a whole", "x", "z");
  Plot top = make_picture("The top, seen from above, under the same torque", "x", "z");
  Table table;
  table.title = "Twist";
  table.columns = {"volume, top turned by 90°", "the same, tower half as high", "area half-way up",
                   "area of the top by torque", "its angle"};
  Twisted results[2], halves[2];
  int k = 0;
  for (const Shape* shape : {&kQuadratic, &kLinear}) {
    Twisted &r = results[k], &half = halves[k];
    ++k;
    if (options.progress) options.progress(shape->name, 0.0);
    twist_by_turning(tower, *shape, options, r);
    twist_by_torque(tower, *shape, kTorque, options, r);
    twist_by_turning(stocky, *shape, options, half);
    table.rows.push_back({shape->name,
                          {{format_quantity(r.volume, "%")},
                           {format_quantity(half.volume, "%")},
                           {format_quantity(r.middle_area, "%")},
                           {format_quantity(r.top_area, "%")},
                           {fmt::format("{:.1f}°", r.angle)}}});
    middle.series.push_back(make_outline(shape->name, r.middle, 0, 2, SeriesStyle::kMethod));
    top.series.push_back(make_outline(shape->name, r.top, 0, 2, SeriesStyle::kMethod));
  }
  const ExplicitTets rest = make_tets(tower.make(), 1e4, ExplicitModel::kLinear, 0.0);
  for (Plot* plot : {&middle, &top})
    plot->series.push_back(
        make_outline("at rest", places_of(rest, tower.ring_at(tower.grid.n[1])), 0, 2, SeriesStyle::kSurface));
  out.claims = {
      {"quadratic strain: change of volume at 90°", "\"the same distortion does not occur\"",
       std::abs(results[0].volume), 2.0, Relation::kAtMost, "%"},
      {"the same, tower half as high", "\"the same distortion does not occur\"", std::abs(halves[0].volume), 2.0,
       Relation::kAtMost, "%"},
      {"linear strain: change of volume at 90°", "\"distorted\"", std::abs(results[1].volume), 20.0, Relation::kAtLeast,
       "%"},
      {"linear strain: the top under torque", "\"grown bigger\"", results[1].top_area, 20.0, Relation::kAtLeast, "%"},
      {"quadratic strain: the same", "\"the same distortion does not occur\"", std::abs(results[0].top_area), 5.0,
       Relation::kAtMost, "%"},
  };
  out.report.title = "A tower twisted at its top";
  out.report.paragraphs = {
      "After Zhuang & Canny 2000, Fig. 2: a tower of 50 mm by 200 mm, 864 cells of five tets, fixed below, E = 10 kPa, "
      "ν = 0.3. Once the top is "
      "turned by a quarter as a whole, and once its nodes are driven around by a torque and find their own places."};
  out.report.tables = {table};
  out.report.plots = {middle, top};
  return out;
}

static ExperimentResult reproduce_bend(const ExperimentOptions& options) {
  ExperimentResult out;
  Plot plot = make_picture("Section along the beam, at rest under its weight", "x", "y");
  plot.half_width = false;
  Table table;
  table.title = "Bend";
  table.columns = {"volume", "length of the axis", "tip x", "tip y"};
  Bent results[2];
  int k = 0;
  for (const Shape* shape : {&kQuadratic, &kLinear}) {
    Bent& r = results[k++];
    if (options.progress) options.progress(shape->name, 0.0);
    r = bend(*shape, options);
    table.rows.push_back({shape->name,
                          {{format_quantity(r.volume, "%")},
                           {format_quantity(r.length, "%")},
                           {format_quantity(r.tip.x(), "m")},
                           {format_quantity(r.tip.y(), "m")}}});
    plot.series.push_back(make_outline(shape->name, r.outline, 0, 1, SeriesStyle::kMethod));
  }
  out.claims = {
      {"quadratic strain: the axis' length", "\"undistorted\"", std::abs(results[0].length), 5.0, Relation::kAtMost,
       "%"},
      {"linear strain: the same", "\"distorted\"", results[1].length, 20.0, Relation::kAtLeast, "%"},
      {"quadratic strain: volume", "\"undistorted\"", std::abs(results[0].volume), 5.0, Relation::kAtMost, "%"},
      {"linear strain: volume", "\"distorted\"", std::abs(results[1].volume), 20.0, Relation::kAtLeast, "%"},
  };
  // How far a slender beam bends is a matter of E alone.
  for (const double poisson : {0.45, 0.49}) {
    const Bent r = bend(kQuadratic, options, poisson);
    const std::string name = fmt::format("quadratic strain, ν = {}", poisson);
    table.rows.push_back({name,
                          {{format_quantity(r.volume, "%")},
                           {format_quantity(r.length, "%")},
                           {format_quantity(r.tip.x(), "m")},
                           {format_quantity(r.tip.y(), "m")}}});
    out.claims.push_back({name + ": its tip's drop, off from that with ν = 0.3 by", "beams bend by E alone",
                          std::abs(percent(r.tip.y(), results[0].tip.y())), 10.0, Relation::kAtMost, "%"});
  }
  out.report.title = "A cantilever under its weight";
  out.report.paragraphs = {
      "After Zhuang & Canny 2000, Fig. 3: 320 cells of five tets, 0.2 m long, fixed at the left, E = 40 kPa."};
  out.report.tables = {table};
  out.report.plots = {plot};
  return out;
}

}  // namespace zhuang_shapes

ExperimentResult run_zhuang_rotation(const ExperimentOptions& options) {
  return zhuang_shapes::reproduce_rotation(options);
}
ExperimentResult run_zhuang_twist(const ExperimentOptions& options) {
  return zhuang_shapes::reproduce_twist(options);
}
ExperimentResult run_zhuang_bend(const ExperimentOptions& options) {
  return zhuang_shapes::reproduce_bend(options);
}

}  // namespace palpate
