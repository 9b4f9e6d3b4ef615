# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene of the demo: a gingham tablecloth above a ball on a stand, which moves across the floor and turns."""

import math

import bpy
import numpy as np

CLOTH_VERTICES = 60                 # vertices along each side
CLOTH_SIDE = 1.6                    # [m]
BALL_RADIUS = 0.32                  # [m]
BALL_HEIGHT = 0.85                  # height of its centre above the floor [m]
TRAVEL = 0.5                        # sideways motion of the ball over all frames [m]
TURN = math.radians(100.0)          # rotation of the ball about the vertical over all frames [rad]
GAP = 0.03                          # initial distance of ball and cloth [m]
CHECKS = 16                         # number of checks along each side of the cloth


def build(frames: int, vertices: int = CLOTH_VERTICES) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Create a new scene of `frames` frames, over which the ball moves, and return the cloth and the ball.

    `vertices`: number of vertices along each side of the cloth.
    """
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    scene.render.fps = 24
    ball = add_ball(scene, frames)
    cloth = add_cloth(scene, vertices)
    add_floor_and_light(scene)
    add_camera(scene)
    return cloth, ball


def add_object(name: str, data: bpy.types.ID, material: bpy.types.Material | None = None) -> bpy.types.Object:
    """Add an object to the scene and return it."""
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    if material is not None:
        data.materials.append(material)
    return obj


def add_cloth(scene: bpy.types.Scene, n: int) -> bpy.types.Object:
    """Add a flat grid of n x n vertices with a UV map from 0 to 1 along warp and weft."""
    u, v = np.meshgrid(np.linspace(0.0, 1.0, n), np.linspace(0.0, 1.0, n), indexing="ij")
    height = BALL_HEIGHT + BALL_RADIUS + GAP
    x = np.stack([(u - 0.5) * CLOTH_SIDE, (v - 0.5) * CLOTH_SIDE, np.full_like(u, height)], axis=-1)
    corner = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    quads = np.stack([corner, corner + n, corner + n + 1, corner + 1], axis=1)
    mesh = bpy.data.meshes.new("Tablecloth")
    mesh.from_pydata(x.reshape(-1, 3).tolist(), [], quads.tolist())
    mesh.polygons.foreach_set("use_smooth", [True] * len(quads))
    layer = mesh.uv_layers.new(name="UVMap")
    uv = np.stack([u.ravel(), v.ravel()], axis=1)[quads.ravel()]
    layer.uv.foreach_set("vector", uv.astype(np.float32).ravel())
    cloth = add_object("Tablecloth", mesh, gingham())
    cloth.location.x = -TRAVEL / 2
    return cloth


def add_ball(scene: bpy.types.Scene, frames: int) -> bpy.types.Object:
    """Add a ball with its stand, which moves and turns, easing in and out."""
    bpy.ops.mesh.primitive_uv_sphere_add(radius=BALL_RADIUS, segments=64, ring_count=32)
    ball = bpy.context.object
    ball.name = ball.data.name = "Ball"
    ball.data.materials.append(plain("Wood", (0.35, 0.17, 0.07), roughness=0.35))
    ball.data.polygons.foreach_set("use_smooth", [True] * len(ball.data.polygons))
    for frame, side in ((1, -1.0), (frames, 1.0)):
        ball.location = (side * TRAVEL / 2, 0.0, BALL_HEIGHT)
        ball.rotation_euler.z = (side + 1.0) / 2.0 * TURN
        ball.keyframe_insert("location", frame=frame)
        ball.keyframe_insert("rotation_euler", frame=frame)
    dark = plain("Stand", (0.02, 0.02, 0.025), roughness=0.4)
    for name, radius, bottom, top in (("Pole", 0.03, 0.03, BALL_HEIGHT - BALL_RADIUS * 0.95),
                                      ("Foot", 0.2, 0.0, 0.03)):
        bpy.ops.mesh.primitive_cylinder_add(radius=radius, depth=top - bottom, vertices=48)
        part = bpy.context.object
        part.name = part.data.name = name
        part.data.materials.append(dark)
        part.parent = ball
        part.location.z = (top + bottom) / 2 - BALL_HEIGHT
    return ball


def add_floor_and_light(scene: bpy.types.Scene) -> None:
    """Add a studio: a floor that curves up behind the ball, a large key light, a fill light and a rim light."""
    depth, radius = 5.0, 2.0
    angle = np.linspace(0.0, math.pi / 2, 17)
    profile = np.concatenate([[[-8.0, 0.0]], np.stack([depth - radius + radius * np.sin(angle),
                                                      radius - radius * np.cos(angle)], axis=1), [[depth, 8.0]]])
    vertices = [(x, y, z) for y, z in profile for x in (-12.0, 12.0)]
    faces = [(2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2) for i in range(len(profile) - 1)]
    studio = bpy.data.meshes.new("Studio")
    studio.from_pydata(vertices, [], faces)
    studio.polygons.foreach_set("use_smooth", [True] * len(faces))
    add_object("Studio", studio, plain("Studio", (0.62, 0.65, 0.68), roughness=0.9))
    for name, position, energy, size in (("Key", (2.4, -2.4, 3.2), 95.0, 1.0),
                                         ("Fill", (-3.2, -2.2, 1.6), 18.0, 2.5),
                                         ("Rim", (-1.2, 2.6, 2.8), 60.0, 1.0)):
        light = bpy.data.lights.new(name, "AREA")
        light.energy, light.size = energy, size
        lamp = add_object(name, light)
        lamp.location = position
        aim(lamp, (0.0, 0.0, 0.8))
    world = bpy.data.worlds.new("World")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.75, 0.85, 1.0, 1.0)
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.45
    scene.world = world


def add_camera(scene: bpy.types.Scene) -> None:
    """Add the camera."""
    camera = bpy.data.cameras.new("Camera")
    camera.lens = 55.0
    scene.camera = add_object("Camera", camera)
    scene.camera.location = (1.1, -3.75, 1.75)
    aim(scene.camera, (-0.09, 0.0, 0.66))


def aim(obj: bpy.types.Object, target: tuple[float, float, float]) -> None:
    """Turn a lamp or camera towards `target` [m]."""
    direction = np.array(target) - np.array(obj.location)
    across = math.hypot(direction[0], direction[1])
    obj.rotation_euler = (math.atan2(across, -direction[2]), 0.0, math.atan2(-direction[0], direction[1]))


def plain(name: str, colour: tuple[float, float, float], roughness: float) -> bpy.types.Material:
    """Return a material of one colour."""
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = roughness
    material.diffuse_color = (*colour, 1.0)
    return material


def gingham() -> bpy.types.Material:
    """Return a material of woven checks: half dark where dark and light yarn cross, dark where dark yarn crosses."""
    material = plain("Gingham", (0.6, 0.05, 0.06), roughness=0.9)
    tree = material.node_tree
    split = tree.nodes.new("ShaderNodeSeparateXYZ")
    tree.links.new(tree.nodes.new("ShaderNodeUVMap").outputs["UV"], split.inputs[0])

    def math_node(operation: str, first: bpy.types.NodeSocket, second: float | bpy.types.NodeSocket):
        node = tree.nodes.new("ShaderNodeMath")
        node.operation = operation
        tree.links.new(first, node.inputs[0])
        if isinstance(second, float):
            node.inputs[1].default_value = second
        else:
            tree.links.new(second, node.inputs[1])
        return node.outputs[0]

    def stripe(coordinate: str):
        scaled = math_node("MULTIPLY", split.outputs[coordinate], float(CHECKS))
        return math_node("LESS_THAN", math_node("FRACT", scaled, 0.0), 0.5)

    amount = math_node("MULTIPLY", math_node("ADD", stripe("X"), stripe("Y")), 0.5)
    mix = tree.nodes.new("ShaderNodeMix")
    mix.data_type = "RGBA"
    colours = [socket for socket in mix.inputs if socket.type == "RGBA"]
    colours[0].default_value = (0.87, 0.85, 0.8, 1.0)
    colours[1].default_value = (0.55, 0.03, 0.045, 1.0)
    tree.links.new(amount, mix.inputs[0])
    result = next(socket for socket in mix.outputs if socket.type == "RGBA")
    tree.links.new(result, tree.nodes["Principled BSDF"].inputs["Base Color"])
    return material
