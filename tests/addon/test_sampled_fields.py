# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields that are sampled on a lattice: textures against Blender's particles, fluids against their formula."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tests.addon import blender_fields, builders


def texture(kind="CLOUDS", **settings):
    """Add a texture and return it."""
    import bpy

    made = bpy.data.textures.new("Texture", kind)
    for name, value in settings.items():
        setattr(made, name, value)
    return made


def picture(rng):
    """Return a texture of an image of random colours."""
    import bpy

    image = bpy.data.images.new("Picture", 16, 16)
    image.pixels[:] = rng.random(16 * 16 * 4).tolist()
    return texture("IMAGE", image=image)


def samples(field, time=0.0):
    """Return points (n, 3) [m] of a field's lattice, and its values there (n, c)."""
    lattice, places = field.lattice(time), field.lattice_map(time)
    index = np.stack(np.meshgrid(*(np.arange(n) for n in lattice.shape[:3]), indexing="ij"), axis=-1).reshape(-1, 3)
    points = np.linalg.lstsq(places[:, :3], (index - places[:, 3]).T, rcond=None)[0].T
    assert points @ places[:, :3].T + places[:, 3] == pytest.approx(index, abs=1e-6)
    return points, lattice.reshape(-1, lattice.shape[-1])


@pytest.mark.parametrize("mode", ["RGB", "GRADIENT", "CURL"])
@pytest.mark.parametrize("kind", ["clouds", "colours", "picture"])
@pytest.mark.parametrize("coordinates", [{}, {"use_object_coords": True}, {"use_2d_force": True},
                                         {"use_object_coords": True, "use_2d_force": True}])
def test_samples_of_a_texture_are_what_blender_s_particles_feel(extension, read_inputs, monkeypatch, mode, kind,
                                                                 coordinates):
    monkeypatch.setattr(extension.field_texture, "SAMPLES_STILL", 1000)
    rng = np.random.default_rng(4)
    builders.sheet()
    made = {"clouds": texture, "colours": lambda: texture(cloud_type="COLOR"), "picture": lambda: picture(rng)}[kind]()
    matrix = blender_fields.placed(rng)
    obj = blender_fields.add_field("TEXTURE", matrix, strength=1.0, texture=made, texture_mode=mode,
                                   texture_nabla=0.1, **coordinates)
    inputs = read_inputs()
    points, values = samples(inputs.scene.fields[0])
    chosen = rng.choice(len(points), 60, replace=False)
    moved = blender_fields.motion(blender_fields.particles(points[chosen]))
    wanted = values[chosen]
    if "use_2d_force" in coordinates:
        axis = np.array(obj.matrix_world)[:3, 2] / np.linalg.norm(np.array(obj.matrix_world)[:3, 2])
        wanted = wanted - np.outer(wanted @ axis, axis)
    assert moved.a == pytest.approx(wanted, abs=2e-4)       # differences over 0.1 of numbers in single precision


def test_a_flat_texture_has_one_fine_layer(read_inputs):
    builders.sheet()
    blender_fields.add_field("TEXTURE", texture=picture(np.random.default_rng(0)))
    lattice = read_inputs().scene.fields[0].lattice(0.0)
    assert lattice.shape[2] == 1 and min(lattice.shape[:2]) > 100


def test_an_image_that_is_finer_than_its_samples_is_named(read_inputs):
    import bpy

    builders.sheet(size=40.0)
    image = bpy.data.images.new("Picture", 64, 64)
    image.pixels[:] = np.random.default_rng(0).random(64 * 64 * 4).tolist()
    blender_fields.add_field("TEXTURE", texture=texture("IMAGE", image=image))
    note, = read_inputs().notes
    assert "details that are finer" in note and "'Field'" in note


def test_samples_of_a_still_texture_stay_the_same_array(read_inputs):
    builders.sheet()
    blender_fields.add_field("TEXTURE", texture=texture())
    field, = read_inputs(3).scene.fields
    assert field.lattice(2.0 / 24.0) is field.lattice(0.0)


@pytest.mark.parametrize("what", ["size", "nabla", "place"])
def test_samples_follow_a_texture_that_changes(read_inputs, what):
    builders.sheet()
    made = texture(noise_scale=0.5)
    obj = blender_fields.add_field("TEXTURE", texture=made, texture_mode="GRADIENT", texture_nabla=0.1,
                                   use_object_coords=True)
    owner, name, values = {"size": (made, "noise_scale", (0.5, 1.0)), "nabla": (obj.field, "texture_nabla", (0.1, 0.5)),
                           "place": (obj, "location", ((0.0, 0.0, 0.0), (1.0, 0.5, 0.2)))}[what]
    builders.animate(owner, name, {1: values[0], 2: values[1]})
    field, = read_inputs(2).scene.fields
    before, after = (field.lattice(time) for time in (0.0, 1.0 / 24.0))
    assert np.abs(after - before).max() > 0.01
    assert np.array_equal(field.lattice_map(0.0), field.lattice_map(1.0 / 24.0))


def domain(velocity, density, cells, matrix, **settings):
    """Return a stand-in for an evaluated gas domain of `cells`, whose mesh reaches from -1 to 1 along each axis."""
    values = {"type": "FLUID", "fluid_type": "DOMAIN", "domain_type": "GAS", "use_adaptive_domain": False,
              "domain_resolution": cells, "cell_size": [2.0 / n for n in cells], "start_point": (-1.0, -1.0, -1.0),
              "resolution_max": max(cells), "velocity_grid": velocity, "density_grid": density, **settings}
    modifier = SimpleNamespace(**values)
    modifier.domain_settings = modifier
    return SimpleNamespace(name="Domain", modifiers=[modifier], matrix_world=matrix)


@pytest.fixture
def fluid(extension, monkeypatch):
    """Return a function that makes the reader of a fluid field with a stand-in for its domain."""
    def fluid(made, **settings):
        field = SimpleNamespace(source_object=made, **{"use_smoke_density": False, **settings})
        obj = SimpleNamespace(name="Field", field=field)
        monkeypatch.setattr(extension.field_fluid, "evaluated_object", lambda found, view_layer: found)
        scene = SimpleNamespace(frame_current=2)
        return extension.field_fluid.FieldFluid(obj, SimpleNamespace(id_data=scene), 0.5)

    return fluid


def test_velocities_of_a_domain_are_those_of_blender_s_particles(fluid):
    cells = (2, 4, 2)
    rng = np.random.default_rng(2)
    velocity, density = rng.normal(size=(2, 4, 2, 3)), rng.random((2, 4, 2))        # z, y, x
    matrix = np.array([[0.0, -3.0, 0.0, 5.0], [1.0, 0.0, 0.0, 6.0], [0.0, 0.0, 1.0, 7.0], [0.0, 0.0, 0.0, 1.0]])
    made = domain(velocity.ravel(), density.ravel(), cells, matrix)
    read = fluid(made, use_smoke_density=True).samples("lattice", "map")
    lattice, places = read["lattice"](), read["map"]()
    assert lattice.shape == (2, 4, 2, 4)
    u = velocity[1, 2, 0]                                   # the cell (0, 2, 1)
    turned = matrix[:3, :3] @ u
    wanted = 2.5 * 6.0 / 4 * 0.5 * turned / np.linalg.norm(turned) * np.linalg.norm(u)
    assert lattice[0, 2, 1, :3] == pytest.approx(wanted)
    assert lattice[0, 2, 1, 3] == pytest.approx(density[1, 2, 0])
    centre = matrix @ [-0.5, 0.25, 0.5, 1.0]                # of that cell [Blender units]
    assert places[:, :3] @ (0.5 * centre[:3]) + places[:, 3] == pytest.approx([0.0, 2.0, 1.0])


def test_a_large_domain_is_averaged_and_an_empty_one_is_still(fluid, extension, monkeypatch):
    monkeypatch.setattr(extension.field_fluid, "MOST_CELLS", 8)
    velocity = np.arange(4 * 3 * 2 * 3, dtype=float).reshape(2, 3, 4, 3)
    read = fluid(domain(velocity.ravel(), np.ones(24), (4, 3, 2), np.eye(4))).samples("lattice", "map")
    lattice = read["lattice"]()
    assert lattice.shape == (2, 2, 1, 4) and (lattice[..., 3] == 1.0).all()
    scale = 2.5 * 2.0 / 4 * 0.5
    assert lattice[1, 1, 0, :3] == pytest.approx(scale * velocity[:, 2:, 2:].mean(axis=(0, 1, 2)), rel=0.2)
    assert read["map"]()[:, :3] @ [0.0, 0.0, 0.0] + read["map"]()[:, 3] == pytest.approx([0.5, 0.25, 0.0])
    still = fluid(domain([], [], (4, 3, 2), np.eye(4))).samples("lattice", "map")["lattice"]()
    assert not still.any()


@pytest.mark.parametrize("density, factor", [(False, 1.0), (True, 0.0)])
def test_a_liquid_has_velocities_and_no_density(fluid, density, factor):
    made = domain(np.ones(72), [], (4, 3, 2), np.eye(4), domain_type="LIQUID")
    lattice = fluid(made, use_smoke_density=density).samples("lattice", "map")["lattice"]()
    assert (lattice[..., 3] == factor).all() and lattice[..., :3].all()


def test_a_domain_that_changes_its_cells_is_refused(fluid, extension):
    made = domain([], [], (4, 3, 2), np.eye(4))
    read = fluid(made).samples("lattice", "map")["lattice"]
    read()
    made.modifiers[0].domain_resolution = (5, 3, 2)
    with pytest.raises(extension.core.SceneError, match="Domain.*cells at frame 2.*Adaptive"):
        read()
