#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "palpate/bodies/material.h"
#include "palpate/scene/shape.h"
#include "palpate/world/world.h"

// Bodies and joints of a scene, as data: plain values, for any thread that has them for itself. Places and directions
// are in the world frame unless something else is said.
namespace palpate {

/// Both are compared by what a scene file can say of them.
bool operator==(const Material& a, const Material& b);
bool operator==(const WorldSettings& a, const WorldSettings& b);

/// What a soft body, a chain and a soft tool are made of unless a scene says otherwise.
inline constexpr Material kTissue{};
inline constexpr Material kWire{.young_modulus = 1e8, .poisson_ratio = 0.3, .density = 1500.0};
inline constexpr Material kRubber{.young_modulus = 1e5, .poisson_ratio = 0.35, .density = 1000.0};

/// A surface that never moves.
struct SceneStatic {
  SceneShape shape{};
  bool operator==(const SceneStatic&) const = default;
};

/// A half-space that never moves, through the body's position.
struct ScenePlane {
  Vec3 normal = Vec3::UnitY();  ///< out of the solid; any length
  bool operator==(const ScenePlane&) const = default;
};

/// A grid of the same body.
struct SceneCopies {
  int x = 1, y = 1, z = 1;             ///< bodies along each axis
  Vec3 spacing = Vec3::Constant(0.1);  ///< from one to the next [m]
  bool operator==(const SceneCopies&) const = default;
};

/// A body that moves and turns as a whole.
struct SceneRigid {
  enum class Contact : std::uint8_t {
    kAuto,    ///< box and sphere as such, cylinder and capsule as hull, others as mesh
    kBox,     ///< as the box that its shape must be
    kSphere,  ///< as the sphere that its shape must be
    kHull,    ///< as the convex hull of its surface
    kMesh,    ///< as its surface
  };
  SceneShape shape{};       ///< closed
  double density = 1000.0;  ///< [kg/m³]
  Contact contact = Contact::kAuto;
  Vec3 velocity = Vec3::Zero();  ///< of its centre at the start [m/s]
  Vec3 spin = Vec3::Zero();      ///< angular velocity at the start [rad/s]
  double damping = 0.0;          ///< α: force −αMv [1/s]
  SceneCopies copies{};
  bool operator==(const SceneRigid&) const = default;
};

/// A box of the world frame in which the nodes of a soft body do not move [m].
struct SceneBoxRegion {
  Vec3 min = Vec3::Zero(), max = Vec3::Zero();
  bool operator==(const SceneBoxRegion&) const = default;
};

/// A body of finite elements.
struct SceneSoft {
  enum class Model : std::uint8_t {
    kTets,              ///< corotational
    kHexes,             ///< corotational, with the shape's surface embedded
    kNeoHookean,        ///< nonlinear tets, stable
    kStVenantKirchhoff  ///< nonlinear tets
  };
  /// What is filled with elements: a closed shape (a box becomes a regular block), or a file of tetrahedra. Exactly one
  /// of the two.
  std::optional<SceneShape> shape{};
  std::string volume{};
  Model model = Model::kTets;
  double cell = 0.02;  ///< edge of the cells that fill the shape [m]
  Material material = kTissue;
  std::vector<SceneBoxRegion> fixed{};
  bool self_contact = false;
  int max_rows = 240;                   ///< room for constraint rows, three a contact
  double single_precision_error = 0.0;  ///< FemSettings::single_precision_error
  bool operator==(const SceneSoft&) const = default;
};

/// A chain of beams: a wire, a thread, a needle.
struct SceneChain {
  enum class Clamp : std::uint8_t { kNone, kStart, kEnd, kBoth };  ///< ends that do not move
  Vec3 from = Vec3::Zero(), to = Vec3(0.2, 0.0, 0.0);              ///< in the body's frame [m]
  int beams = 10;
  double radius = 0.001;  ///< of the round section [m]
  Material material = kWire;
  Clamp clamp = Clamp::kNone;
  bool operator==(const SceneChain&) const = default;
};

/// A body of a scene.
struct SceneBody {
  std::string name{};  ///< for joints, messages and plots; empty: what it is made of
  std::variant<SceneStatic, ScenePlane, SceneRigid, SceneSoft, SceneChain> kind{};
  Vec3 position = Vec3::Zero();  ///< of the body's origin [m]
  Vec3 rotation = Vec3::Zero();  ///< axis times angle [rad]
  double friction = 0.0;         ///< Coulomb coefficient μ; a pair has the geometric mean of its two
  SourcePlace place{};
  bool operator==(const SceneBody&) const = default;
};

/// What scene files call its kind: "static", "soft", …
std::string_view kind_name(const SceneBody& body) noexcept;

/// Its name; where it has none, its shape's kind, or its own kind where there is no shape.
std::string name_of(const SceneBody& body);

/// Adds the body (and its copies) to a world that is not prepared yet. Throws InputError, which begins with the body's
/// place if it was read.
void add_body(World& world, const SceneBody& body, const std::string& scene_file);

/// What acts about the axis of a hinge, or along that of a slider or a curve. Places are in rad or m, forces in N·m or
/// N, and stiffness, damping and speed accordingly.
struct SceneJointAxis {
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  double stiffness = 0.0, damping = 0.0;  ///< of a spring and a damper
  double rest = 0.0;                      ///< where the spring pulls to
  double max_drive = 0.0;                 ///< the most that motor and dry friction give
  double speed = 0.0;                     ///< what the motor keeps; 0: there is dry friction instead
  bool operator==(const SceneJointAxis&) const = default;
};

/// The points of both coincide.
struct BallJoint {
  bool operator==(const BallJoint&) const = default;
};
/// Points and frames of both coincide.
struct FixedJoint {
  bool operator==(const FixedJoint&) const = default;
};
/// Both turn about a common axis.
struct HingeJoint {
  SceneJointAxis axis{};
  bool operator==(const HingeJoint&) const = default;
};
/// One slides along an axis of the other, without turning.
struct SliderJoint {
  SceneJointAxis axis{};
  bool operator==(const SliderJoint&) const = default;
};
/// A point of a slides along a line of points of b.
struct CurveJoint {
  std::vector<Vec3> points{};  ///< in the world at the start, two or more [m]
  SceneJointAxis axis{};
  bool operator==(const CurveJoint&) const = default;
};
/// A point of a stays in a box of the world.
struct BoxJoint {
  Vec3 min = Vec3::Constant(-1.0), max = Vec3::Constant(1.0);  ///< [m]
  bool operator==(const BoxJoint&) const = default;
};

/// What holds bodies of a scene together.
struct SceneJoint {
  std::string name{};  ///< for messages; empty: the bodies' names
  std::variant<BallJoint, FixedJoint, HingeJoint, SliderJoint, CurveJoint, BoxJoint> kind{};
  std::string a{}, b{};                  ///< names of bodies or tools; empty b: the world
  Vec3 position = Vec3::Zero();          ///< of the joint at the start [m]
  Vec3 axis = Vec3::UnitX();             ///< of hinge and slider, at the start; any length
  double arm = Joint{}.arm;              ///< length that weighs angles against distances [m]
  bool collide = Joint{}.collide;        ///< whether what is tied touches what it is tied to; see Joint
  double clearance = Joint{}.clearance;  ///< not nearer to the tie than this [m]
  SourcePlace place{};
  bool operator==(const SceneJoint&) const = default;
};

/// Adds the joint to a world that has its bodies. Throws InputError, which begins with the joint's place if it was
/// read.
void add_joint(World& world, const SceneJoint& joint);

}  // namespace palpate
