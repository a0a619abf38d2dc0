#pragma once

#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "palpate/bodies/body.h"
#include "palpate/geometry/triangle_mesh.h"
#include "palpate/world/contact.h"

namespace palpate {

/// How a body touches others.
struct ContactShape {
  /// It touches nothing.
  struct None {};
  /// A particle, as a ball around it.
  struct Point {
    double radius = 0.0;  ///< [m]
  };
  /// A chain of beams: capsules of the chain's radius along its centre line.
  struct Chain {};
  /// The body's surface(): deformable, rigid or static, closed or open.
  struct Surface {
    /// It has no inside: a sheet, contact on both sides. The side is that on which something is now, so give it a
    /// thickness: what is pressed through the middle of a sheet comes out at the other side.
    bool two_sided = false;
    double half_thickness = 0.0;  ///< of a sheet [m]
    bool self = false;            ///< it touches itself
  };
  /// A sphere of a rigid body.
  struct Sphere {
    double radius = 0.0;           ///< [m]
    Vec3 position = Vec3::Zero();  ///< of its middle, in the frame at the body's centre of mass [m]
  };
  /// A box of a rigid body.
  struct Box {
    Vec3 size = Vec3::Zero();  ///< its edges [m]
    Pose pose{};               ///< of its middle, in the frame at the body's centre of mass
  };
  /// The convex hull of a rigid body's surface().
  struct Hull {};
  /// A static half-space: all x with normal·x < offset is solid. Its body may be null.
  struct Plane {
    Vec3 normal = Vec3::UnitY();  ///< world frame
    double offset = 0.0;          ///< [m]
  };

  std::variant<None, Point, Chain, Surface, Sphere, Box, Hull, Plane> kind{};
  double friction = 0.0;  ///< μ; a pair has the geometric mean of its two. NaN: the pair has the other's

  template <typename Kind>
  bool is() const noexcept {
    return std::holds_alternative<Kind>(kind);
  }
  /// Null if it is of another kind.
  template <typename Kind>
  const Kind* as() const noexcept {
    return std::get_if<Kind>(&kind);
  }
};

struct ContactFinderSettings {
  double alarm_distance = 0.005;  ///< features nearer than this give a contact [m]; motion in the step adds to it
  /// What is nearer than this may be one place [m]: contacts of a pair that stand closer than a quarter of it are thinned
  /// out, and one whose features are new takes over what is remembered of one within it. 0: the alarm distance.
  double place_distance = 0.0;
  int max_contacts = 4096;        ///< when there are more, the nearest are kept and the report says so
  /// Two bodies touch in a few contacts that stand for all: the lowest, the outermost, and others well spread. Those
  /// that bear force are kept beside them.
  int max_contacts_per_pair = 24;
  /// The same where one of the two is deformable: there each vertex yields by itself, and one without a contact sinks
  /// in.
  int max_contacts_per_soft_pair = 80;
  /// Of bodies that hardly move from one find() to the next it is remembered which of their features are far from each
  /// other. false: all are looked at in every find(); the same contacts are found, and it takes longer.
  bool remembers = true;
  /// find_overlaps_ahead() looks only for features that the step itself can have brought together: those that overlap by
  /// no more than they move against each other in it. What overlapped before was found before, or stood back for a
  /// neighbour. For ticks, in which things move so little that most of a search is saved.
  bool only_new_overlaps = false;

  /// The same for a world that is stepped in ticks. So little happens in one that hardly anything is near which the tick
  /// does not bring together: a hand of 1 m/s moves by a millimetre, and motion adds to the alarm distance. Each pair that
  /// is only near costs as much as one that touches.
  ContactFinderSettings for_ticks() const noexcept;
  double size_of_place() const noexcept { return place_distance > 0.0 ? place_distance : alarm_distance; }
};

struct FindReport {
  int contacts = 0;       ///< written
  bool overflow = false;  ///< there were more than ContactFinderSettings::max_contacts
  double deepest = 0.0;   ///< the deepest overlap of two bodies as they are now [m], ≥ 0
};

/// Finds where bodies touch or may touch within the step.
///
/// Set-up: add() each body in the world's order, ignore() pairs. Then find() once a step, in the slow
/// thread: deterministic, in a fixed order, and without allocation once it has been as large before.
class ContactFinder {
 public:
  explicit ContactFinder(const ContactFinderSettings& settings);
  ~ContactFinder();
  ContactFinder(ContactFinder&&) noexcept;
  ContactFinder& operator=(ContactFinder&&) noexcept;

  /// `body` outlives the finder; null for a plane. Throws InputError if the shape does not fit the body.
  int add(const Body* body, const ContactShape& shape);
  /// Says that these two never touch. Set-up.
  void ignore(int a, int b);
  /// These two do not touch each other within `radius` [m] of a place, which is one point on each of them: what is near
  /// to it on either body does not touch, also while the two points are apart. They may be put elsewhere before each
  /// find(). A pair may have several such places; returns the number of this one.
  int keep_clear(int a, int b, double radius);
  /// Says where that place is on `body`, one of the two, world frame [m].
  void set_clear_place(int number, int body, const Vec3& place) noexcept;
  /// Says whether a body is left out of find(): it touches nothing until it is let in again.
  void set_absent(int body, bool absent);

  /// Contacts of the bodies as they are now, given that each is about to advance(h, dv[body]) freely. Replaces `out`.
  /// `bearing`: identities, ascending, of those that bore force before. Where they still are, they are not reduced
  /// away: another choice of the few that stand for all would leave what they held to sink in.
  FindReport find(double h, std::span<const std::span<const Vec3>> dv, std::vector<Contact>& out,
                  std::span<const std::uint64_t> bearing = {});

  /// Where bodies would overlap after advance(h, dv[body]), dv being what they are about to do with all contacts known
  /// so far. Normals and feet are those of then; gaps and points are those of now, so that gap + h n·(v_a − v_b) is
  /// what the overlap would be. Replaces `out`.
  FindReport find_overlaps_ahead(double h, std::span<const std::span<const Vec3>> dv, std::vector<Contact>& out);

  /// The box around every place where a body was in the last find(), from the start of the step to its end, world
  /// frame [m]. Empty for what cannot touch, and for planes.
  BoundingBox swept_box(int body) const noexcept;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace palpate
