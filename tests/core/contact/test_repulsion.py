# SPDX-License-Identifier: GPL-3.0-or-later
"""Pair contacts as springs: energy, force and matrix belong together, and nothing is made out of nothing."""

import numpy as np
import pytest

from core.contact.pair_contacts import LIFTED, STICK_DRAG, STIFFNESS, make_contacts
from core.contact.repulsion import CARRIED, LEAST_CARRYING_LIFT, STIFFEST, Repulsion
from core.kernels import current, using
from core.kernels.backend import why_not
from core.linear.constraint_filter import ConstraintFilter
from core.row_ops import unit
from tests.cases import cases

VERTICES, COUNT, H = 30, 40, 0.02


def contacts_of(seed=0, mu=0.0, thickness=2.0):
    """Random pairs on random vertices, all near enough to touch."""
    rng = np.random.default_rng(seed)
    x0 = rng.normal(size=(VERTICES, 3))
    vertices = np.array([rng.choice(VERTICES, 4, replace=False) for _ in range(COUNT)])
    share = rng.dirichlet(np.ones(3), size=COUNT)
    weights = np.concatenate([np.ones((COUNT, 1)), -share], axis=1)
    offset = np.einsum("pk,pki->pi", weights, x0[vertices])
    normal = offset / np.linalg.norm(offset, axis=1)[:, None]
    contacts = make_contacts(np.arange(COUNT), vertices, weights, normal, np.full(COUNT, thickness),
                             np.full(COUNT, mu), x0, rng.uniform(0.5, 2.0, VERTICES), H)
    return x0, contacts


def touching(seed=0, mu=0.0, thickness=2.0, velocity=None):
    x0, contacts = contacts_of(seed, mu, thickness)
    repulsion = Repulsion(x0, H, contacts)
    still = np.zeros_like(x0)
    repulsion.begin(still, np.zeros(len(contacts), dtype=bool), 0.0 * contacts.mass, 0.0 * contacts.normal, still)
    if velocity is not None:
        repulsion.judge(velocity)
        repulsion.judge(velocity)
    assert contacts.touches.sum() > COUNT // 2
    return x0, repulsion


def test_the_force_is_what_the_energy_loses():
    _, repulsion = touching()
    u, direction, eps = *np.random.default_rng(1).normal(size=(2, VERTICES, 3)), 1e-6
    repulsion.judge(u)
    change = (repulsion.energy(u + eps * direction) - repulsion.energy(u - eps * direction)) / (2 * eps)
    assert change == pytest.approx(-float(np.vdot(repulsion.springs(u), direction)), rel=1e-6)     # dE/du = h dE/dx


@cases("backend", ["numpy", "numba"])
@cases("mu", [0.0, 0.5])
def test_the_matrix_is_what_impulses_lose_with_velocity(backend, mu):
    if why_not(backend):
        pytest.skip("Numba is not there")
    rng = np.random.default_rng(2)
    u, direction = rng.normal(size=(2, VERTICES, 3))
    _, repulsion = touching(mu=mu, velocity=u)
    with using(backend):
        product = np.einsum("vij,vj->vi", repulsion.diagonal(), direction)
        repulsion.add_product(direction, product)
    repulsion.contacts.hold[:] = rng.normal(size=(COUNT, 3))
    np.testing.assert_allclose(product, repulsion.impulse(u) - repulsion.impulse(u + direction), rtol=1e-9, atol=1e-9)
    assert np.vdot(product, direction) > 0.0


@cases("mu", [0.0, 0.5])
def test_momentum_is_kept(mu):
    u = np.random.default_rng(3).normal(size=(VERTICES, 3))
    _, repulsion = touching(mu=mu, velocity=u)
    impulse = repulsion.impulse(u)
    np.testing.assert_allclose(impulse.sum(axis=0), 0.0, atol=1e-10 * np.abs(impulse).max())


@cases("share", [0.5, 0.1, 0.01, 1e-4])
def test_what_pins_hold_apart_does_not_fling_away_the_one_vertex_they_leave(share):
    """A vertex lies too close under a triangle of which pins hold all but a corner: to put things right by that alone,
    it would have to go 1 / share times as far as is lacking."""
    x = np.array([[0.0, 0.0, 0.0], [-1.0, 0.0, 0.1], [0.5, -1.0, 0.1], [0.5, 1.0, 0.1]])
    weights = np.array([[1.0, -(1.0 - share) / 2, -(1.0 - share) / 2, -share]])
    mass = np.full(4, 0.3)
    contacts = make_contacts(np.zeros(1, dtype=int), np.arange(4)[None], weights, np.array([[0.0, 0.0, -1.0]]),
                             np.array([1.0]), np.zeros(1), x, np.array([0.0, 0.0, 0.0, 1.0]) / mass, H, 1.0 / mass)
    still = np.zeros((4, 3))
    repulsion = Repulsion(x, H, contacts)
    repulsion.begin(still, np.zeros(1, dtype=bool), np.zeros(1), still[:1], still)
    for _ in range(6):                                                       # as often as a step may be solved again
        a = mass[3] * np.eye(3) + repulsion.diagonal()[3]
        u = still.copy()
        u[3] = np.linalg.solve(a, repulsion.impulse(still)[3])
        repulsion.judge(u)
    lack = contacts.least[0] - 0.1
    assert 0.0 < H * u[3, 2] < 5.0 * lack


def test_springs_turn_nothing_round():
    """At the start of the step the force is along the line of the closest points."""
    x0, repulsion = touching()
    impulse = repulsion.impulse(np.zeros_like(x0))
    np.testing.assert_allclose(np.cross(x0, impulse).sum(axis=0), 0.0, atol=1e-10 * np.abs(impulse).max())


def test_friction_makes_the_work_of_its_impulses_and_none_once_it_only_brakes():
    u, other = np.random.default_rng(4).normal(size=(2, VERTICES, 3))
    _, repulsion = touching(mu=0.5, velocity=u)
    for velocity in (u, -u, other):
        work = float(np.vdot(repulsion.drags(velocity), velocity))
        assert repulsion.made_by_friction(velocity) == pytest.approx(work, rel=1e-12) and work != 0.0
    assert repulsion.made_by_friction(u) < 0.0 < repulsion.made_by_friction(-u)   # explicit, along the slide of before
    springs = repulsion.springs(u)
    braking = repulsion.drags(u)
    repulsion.only_brake(u)
    assert repulsion.drags(u) == pytest.approx(braking, rel=1e-9, abs=1e-12)      # as strong as it was
    assert all(repulsion.made_by_friction(velocity) < 0.0 for velocity in (u, -u, other))
    assert np.array_equal(repulsion.springs(u), springs)
    repulsion.judge(u)
    assert repulsion.made_by_friction(u) < 0.0


def test_a_spring_that_gives_way_however_stiff_it_is_gets_no_stiffer_for_ever():
    _, repulsion = touching(mu=0.5)
    c, u = repulsion.contacts, np.zeros((VERTICES, 3))
    c.give[:] = 1e-3
    found = []
    for _ in range(60):
        repulsion.judge(u)
        found.append(c.stiffness.max())
    assert found[0] < found[1] < found[-1] == found[-2] < 1e8 * found[0]


@pytest.mark.parametrize("give", [0.0, 1e-3])
def test_friction_that_sticks_makes_no_energy_however_it_moves(give):
    """It gives back what its slide has stored."""
    rng = np.random.default_rng(5)
    u = 1e-3 * rng.normal(size=(VERTICES, 3))
    _, repulsion = touching(mu=50.0, velocity=u)
    c = repulsion.contacts
    c.give[:] = give
    along = unit(np.cross(c.normal, rng.normal(size=(COUNT, 3))))
    c.hold[:] = (0.5 * H * c.mu * repulsion.pressing(u))[:, None] * along
    repulsion.judge(u)
    sticks = c.touches & (c.drag > 0.0) & ~c.across.any(axis=1)
    assert sticks.sum() > COUNT // 2
    c.touches &= sticks
    repulsion.add(c[np.arange(0)])                                                     # what acts is chosen anew
    for scale in (1e-3, 0.1, 0.3, 1.0, 3.0):
        for _ in range(20):
            assert repulsion.made_by_friction(scale * rng.normal(size=(VERTICES, 3))) <= 0.0
    back = 1e-9 * repulsion.drags(0.0 * u)
    assert np.vdot(repulsion.drags(back), back) > 0.0


def test_friction_takes_energy_and_is_bounded_by_the_normal_force():
    u = 0.3 * np.random.default_rng(4).normal(size=(VERTICES, 3))
    _, repulsion = touching(mu=0.4, velocity=u)
    c = repulsion.contacts
    repulsion.judge(u)
    assert np.vdot(repulsion.drags(u), u) < 0.0
    slide = np.einsum("pk,pki->pi", c.weights, u[c.vertices])
    slide -= np.einsum("pi,pi->p", slide, c.normal)[:, None] * c.normal
    limit = H * 0.4 * repulsion.pressing(u)
    assert (c.drag * np.linalg.norm(slide, axis=1) <= limit * (1 + 1e-9)).all()
    c.hold[:] = 0.9 * limit[:, None] * np.cross(c.normal, [0.6, 0.8, 0.0])
    repulsion.judge(u)
    assert (np.linalg.norm(repulsion.rubbing(u), axis=1) <= limit * (1 + 1e-9)).all()
    assert (c.drag <= STICK_DRAG * c.mass).all()


def test_a_pair_that_pulls_is_released_and_one_that_closes_joins():
    x0, repulsion = touching()
    c = repulsion.contacts
    apart = np.zeros_like(x0)
    for p in range(len(c)):
        apart[c.vertices[p, 0]] += 3.0 / H * c.normal[p]
    held = c.touches.copy()
    repulsion.judge(apart)
    gap = np.einsum("pk,pki,pi->p", c.weights, (x0 + H * apart)[c.vertices], c.normal)
    np.testing.assert_array_equal(c.touches, gap < c.least)
    assert (held & ~c.touches).any()
    assert repulsion.judge(np.zeros_like(x0))
    assert (c.touches >= held).all()


def test_a_spring_that_gives_way_gets_stiffer():
    x0, contacts = contacts_of(thickness=0.5)
    repulsion = Repulsion(x0, H, contacts)
    before = contacts.stiffness.copy()
    gap = np.einsum("pk,pki,pi->p", contacts.weights, x0[contacts.vertices], contacts.normal)
    closing = np.zeros_like(x0)
    one = int(np.argmax(gap))
    closing[contacts.vertices[one, 0]] = -1.2 * gap[one] / H * contacts.normal[one]
    repulsion.judge(closing)
    assert contacts.stiffness[one] > before[one]
    untouched = np.flatnonzero(~contacts.touches)
    np.testing.assert_array_equal(contacts.stiffness[untouched], before[untouched])


@cases(("held", "stiffer"), [((0, 1, 2, 3), False), ((0, 1), True), ((), True)])
def test_a_spring_between_what_solids_hold_does_not_get_stiffer_for_nothing(held, stiffer):
    """Both sides of a pinch are where the solids say: any force along the normal would be the solids' to bear."""
    x0, contacts = contacts_of(thickness=0.5)
    repulsion = Repulsion(x0, H, contacts)
    gap = np.einsum("pk,pki,pi->p", contacts.weights, x0[contacts.vertices], contacts.normal)
    contacts = repulsion.contacts = contacts[np.array([np.argmax(gap)])]
    before, closing = contacts.stiffness.copy(), np.zeros_like(x0)
    closing[contacts.vertices[0, 0]] = -1.2 * gap.max() / H * contacts.normal[0]
    free = ConstraintFilter(VERTICES)
    free.constrain(contacts.vertices[0, list(held)], np.tile(contacts.normal, (len(held), 1)), np.zeros(len(held)))
    repulsion.judge(closing, free)
    assert bool(contacts.stiffness[0] > before[0]) is stiffer


def test_a_spring_that_gets_stiffer_carries_the_same_force_over():
    """As much longer as at first, it would fling what it parts."""
    x0, contacts = contacts_of(thickness=0.5)
    contacts.stiffest[:] = 1e3 * STIFFEST * contacts.mass                    # short edges
    repulsion = Repulsion(x0, H, contacts)
    gap = np.einsum("pk,pki,pi->p", contacts.weights, x0[contacts.vertices], contacts.normal)
    one, least, still = int(np.argmax(gap)), contacts.least.copy(), np.zeros_like(x0)
    pressing = np.full(COUNT, 0.1) * contacts.stiffness * contacts.lift / H**2
    repulsion.begin(still, np.ones(COUNT, dtype=bool), pressing, 0.0 * contacts.normal, still)
    closing, judged = np.zeros_like(x0), 0
    closing[contacts.vertices[one, 0]] = -1.2 * gap[one] / H * contacts.normal[one]
    carried = contacts.stiffness[one] * (contacts.least - least)[one]
    assert carried > 0.0
    while judged < 3:
        before = contacts.stiffness[one]
        repulsion.judge(closing)
        assert contacts.stiffness[one] > before
        if contacts.stiffness[one] > STIFFEST * contacts.mass[one]:
            assert contacts.stiffness[one] * (contacts.least - least)[one] == pytest.approx(carried)
            judged += 1


def vertex_on_a_face(inertia=1e4):
    """Return positions and the contact of a vertex, of `inertia` [kg] in a step, that is too near to a face."""
    x0, index = np.array([[0.0, 0.0, 1e-3], [9.0, 9.0, 9.0]]), np.array([[0, 1, 1, 1]])
    normal = np.array([[0.0, 0.0, 1.0]])
    return x0, make_contacts(np.arange(1), index, np.array([[1.0, -1.0, 0.0, 0.0]]), normal, np.array([2e-3]),
                             np.zeros(1), x0 * [[1.0], [0.0]], np.array([1.0, 0.0]), H,
                             inertia=np.array([inertia, 0.0]))


def test_what_comes_in_after_a_solution_does_not_change_what_others_press_with():
    """A stiff spring that did not act in the solution stops what comes near by its mass, not by its stiffness."""
    x0, contacts = vertex_on_a_face()
    repulsion = Repulsion(x0 * [[1.0], [0.0]], H, contacts)
    still, up = np.zeros((2, 3)), np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    repulsion.begin(up, np.zeros(1, dtype=bool), np.zeros(1), np.zeros((1, 3)), still)
    repulsion.judge(up)
    assert not repulsion.contacts.touches.any() and repulsion.contacts.give.all()
    down = -0.01 * up
    alone = repulsion.pressing(down)
    later = repulsion.contacts[np.arange(1)]
    later.touches[:] = True
    repulsion.add(later)
    repulsion.contacts.touches[:] = True
    assert repulsion.pressing(down)[0] == pytest.approx(alone[0])
    assert repulsion.pressing(down)[0] < 1e-2 * repulsion.contacts.stiffness[0] * 1e-3 / H**2


def test_a_pair_gets_as_stiff_as_what_it_moves_but_not_between_solids():
    """Two vertices on edges that are a million masses stiff in the step, one above the other, come too near; once they
    are free, once faces press both."""
    x0 = np.array([[0.0, 0.0, 1e-3], [0.0, 0.0, 0.0]])
    pair, weights, up = np.array([[0, 1, 1, 1]]), np.array([[1.0, -1.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 1.0]])
    inertia, still = np.full(2, 1e6), np.zeros((2, 3))
    closing = np.array([[0.0, 0.0, -0.8e-3 / H], [0.0, 0.0, 0.0]])

    def stiffness(between):
        found = make_contacts(np.arange(1), pair, weights, up, np.full(1, 2e-3), np.zeros(1), x0, np.ones(2), H,
                              inertia=inertia)
        repulsion = Repulsion(x0, H, found)
        for vertex, normal in ((0, -up), (1, up)) if between else ():
            face = found[np.arange(1)]
            face.key[:], face.vertices[:], face.weights[:] = 7 + vertex, vertex, [[1.0, 0.0, 0.0, 0.0]]
            face.normal[:], face.least[:], face.floor[:] = normal, 1.0, -np.inf
            repulsion.add(face)
        repulsion.contacts.touches[:] = True
        repulsion.begin(still, np.ones(len(repulsion.contacts), dtype=bool), 0.0 * repulsion.contacts.mass,
                        0.0 * repulsion.contacts.normal, still)
        for _ in range(20):
            repulsion.judge(closing)
        return repulsion.contacts.stiffness[0]

    assert stiffness(between=False) == pytest.approx(0.5e6)                 # 1 / (1 / 1e6 + 1 / 1e6)
    assert stiffness(between=True) == pytest.approx(STIFFEST * 0.5)


def test_what_starts_too_close_is_moved_out_slowly():
    x0, contacts = contacts_of(thickness=10.0)
    gap = np.einsum("pk,pki,pi->p", contacts.weights, x0[contacts.vertices], contacts.normal)
    assert (contacts.least > gap).all() and (contacts.least - gap <= 0.1 * (10.0 - gap)).all()


@pytest.mark.skipif(bool(why_not("numba")), reason="Numba is not there")
def test_both_backends_multiply_alike():
    _, repulsion = touching(mu=0.3, velocity=np.ones((VERTICES, 3)))
    c, x = repulsion.contacts, np.random.default_rng(5).normal(size=(VERTICES, 3))
    found = []
    for name in ("numpy", "numba"):
        with using(name):
            result = np.ones((VERTICES, 3))
            current().pair_penalty.add_product(c.vertices, c.weights, c.normal, c.stiffness, c.drag, x, result)
            found.append(result)
    np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-12 * np.abs(found[0]).max())


def test_a_spring_that_is_held_together_is_not_loaded_more_and_more():
    """Step after step the same force more than a spring can do is carried over: its d* stays near the thickness."""
    x0, contacts = contacts_of(thickness=0.5)
    full = contacts.least.copy()
    repulsion = Repulsion(x0, H, contacts)
    still = np.zeros_like(x0)
    repulsion.begin(still, np.ones(COUNT, dtype=bool), np.full(COUNT, 1e9), 0.0 * contacts.normal, still,
                    np.full(COUNT, 100.0 * STIFFNESS))
    assert (contacts.least <= 2.0 * full * (1 + 1e-12)).all()
    np.testing.assert_allclose(contacts.stiffness, 100.0 * STIFFNESS * contacts.mass)          # as before, and no more


@cases(("load", "left"), [(0.0, 50.0), (60.0, 60.0), (200.0, 100.0)])
def test_a_spring_that_had_got_stiffer_eases_as_far_as_it_can_carry_what_presses(load, left):
    """Were it softer, it would sink until it is too weak, and jump: `load` is what it takes to carry that with a
    stiffness of so many times the usual one."""
    x0, contacts = contacts_of(thickness=0.5)
    pressing = load * STIFFNESS * contacts.mass / H**2 * LEAST_CARRYING_LIFT * contacts.lift / CARRIED
    Repulsion(x0, H, contacts).begin(np.zeros_like(x0), np.ones(COUNT, dtype=bool), pressing, 0.0 * contacts.normal,
                                     np.zeros_like(x0), np.full(COUNT, 100.0 * STIFFNESS))
    np.testing.assert_allclose(contacts.stiffness, left * STIFFNESS * contacts.mass)


def test_what_sinks_is_carried_no_less():
    """By how much d* grows at most is a part of the full one, not of that by which a sunken gap comes back."""
    x0, contacts = contacts_of(thickness=2.0)
    before = contacts.least.copy()
    assert before.min() < 0.7 * before.max()
    Repulsion(x0, H, contacts).begin(np.zeros_like(x0), np.ones(COUNT, dtype=bool), np.full(COUNT, 1e9),
                                     0.0 * contacts.normal, np.zeros_like(x0))
    np.testing.assert_allclose(contacts.least - before, 2.0 * LIFTED)


def test_it_knows_by_their_keys_which_contacts_touch():
    x0, contacts = contacts_of()
    repulsion = Repulsion(x0, H, contacts)
    key = np.array([COUNT + 1, 7, -3, 0, 7, 20])
    assert not repulsion.touches(key).any()                              # none does yet
    contacts.touches[[7, 20]] = True
    np.testing.assert_array_equal(repulsion.touches(key), [False, True, False, False, True, True])
    assert repulsion.touches(key[:0]).shape == (0,)
